// The program that stands for a hook of a probe: it notes that it ran, waits as told, and says what the hook said.

/**
 * @typedef {object} Stub
 * @property {string} [id]
 * @property {number} [exit]
 * @property {string} [script] runs before the output is printed
 * @property {string} [script_pre]
 * @property {string} [after] the hook that must have ended before
 * @property {boolean} [reads_stdin]
 */

/**
 * @param {Stub} hook
 * @param {{ dir: string, out: string, err: string, seconds: number }} where its folder, what it prints, how long it waits
 */
export function stubText(hook, { dir, out, err, seconds }) {
  const { id = '', exit = 0, script, script_pre = '', after, reads_stdin } = hook
  return [
    `#!${script ? '/usr/bin/env bash' : '/bin/sh'}`,
    script_pre,
    reads_stdin === false ? '' : 'cat > /dev/null',
    `echo ${id} >> ${dir}/ran`,
    `cd ${dir}`,
    after ? waitFor(`${dir}/stubs/${after}.pid`) : '',
    seconds > 0 ? `sleep ${seconds}` : '',
    script ?? '',
    `cat ${out}`,
    `cat ${err} >&2`,
    `echo $$ > ${dir}/stubs/${id}.pid`,
    `exit ${exit}`,
  ].join('\n')
}

/** Until the process that wrote the file is gone, and a moment longer, for whoever reads its pipe. @param {string} file */
function waitFor(file) {
  return [
    `i=0; while [ ! -s ${file} ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done`,
    `while kill -0 "$(cat ${file})" 2> /dev/null; do sleep 0.02; done`,
    'sleep 0.1',
  ].join('\n')
}
