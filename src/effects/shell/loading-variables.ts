// Environment variables that make programs load additional code.

const SHELLS =
  'PATH|PATHEXT|CDPATH|IFS|(?:BASH_)?ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PROMPT_COMMAND|PS[0-4]|ZDOTDIR'
const LINKERS = 'LD_.*|DYLD_.*|GCONV_PATH|OPENSSL_(?:CONF|ENGINES|MODULES)'
const LANGUAGES = [
  'NODE_(?:OPTIONS|PATH)|NPM_CONFIG_.*|BUN_OPTIONS',
  'PYTHON(?:PATH|HOME|STARTUP|INSPECT|BREAKPOINT|WARNINGS|USERBASE|EXECUTABLE|PLATLIBDIR|PYCACHEPREFIX)',
  'PERL5.*|PERLLIB|RUBY(?:LIB|OPT)|GEM_(?:HOME|PATH)|BUNDLE_.*|LUA_.*|AWKPATH|PHPRC|PHP_INI_SCAN_DIR',
  'CLASSPATH|(?:JAVA_TOOL|_JAVA|JDK_JAVA)_OPTIONS|DOTNET_STARTUP_HOOKS',
].join('|')
/** Leaves out git's variables for the names and dates of a commit, which load nothing. */
const PROGRAMS =
  'GIT_(?!AUTHOR_|COMMITTER_).*|SSH_ASKPASS|EDITOR|VISUAL|PAGER|BROWSER|LESSOPEN|LESSCLOSE|MAKEFLAGS|MAKEFILES'

const LOADING = new RegExp(`^(?:${SHELLS}|${LINKERS}|${LANGUAGES}|${PROGRAMS})$`, 's')

/** Ignores letter case, because some systems do. A pattern that does so itself takes ten times as long to compile. */
export function loadsCode(variable: string): boolean {
  return LOADING.test(variable.replace(/[a-z]+/g, (letters) => letters.toUpperCase()))
}
