import { describe, expect, it } from 'vitest'
import { nameFromCommand, nameFromUrl } from '../../../src/adapters/mcp/server-name.js'

describe('the name of a server', () => {
  it.each([
    ['npx -y @modelcontextprotocol/server-filesystem@1.2 /tmp', 'filesystem'],
    ['npx -p some-package some-bin', 'some-bin'],
    ['npx --package=some-package some-bin', 'some-bin'],
    ['uvx --python 3.12 mcp-server-git', 'git'],
    ['uvx -p 3.12 --from git+https://example.com/x serena start', 'serena'],
    ['uv --directory /srv run -m mcp_notes', 'notes'],
    ['uv run --with mcp server/weather.py', 'weather'],
    ['python3.12 -u -m mcp_server_time --local UTC', 'time'],
    ['python -W ignore weather.py', 'weather'],
    ['docker run --network host img', 'img'],
    ['docker run -it --rm -eTOKEN -v /a:/b -p8080:80 ghcr.io/github/github-mcp-server:latest', 'github'],
    ['docker run -ite TOKEN mcp/git', 'git'],
    ['docker compose -f file.yml run --rm notes', 'notes'],
    ['env TOKEN=x -u HOME node --no-warnings --import tsx /srv/notes/dist/index.js', 'notes'],
    ['cmd /c npx -y notes-mcp', 'notes'],
    ['C:\\Tools\\npx.cmd -y notes-mcp', 'notes'],
    ['deno run -A --allow-net=example.com jsr:@me/notes', 'notes'],
    ['bun x notes-mcp', 'notes'],
    ['npm exec --yes -- notes-mcp', 'notes'],
    ['./notes-server --port 3', 'notes'],
    ['/opt/notes/bin/notes --port 3', 'notes'],
    ['github-mcp-server stdio', 'github'],
    ['notes', 'notes'],
  ])('of %s is %s', (line, name) => {
    expect(nameFromCommand(line.split(' '))).toEqual({ name })
  })

  it.each([
    ['docker run --strange host img', '--strange'],
    ['uvx --new-option 3.12 mcp-server-git', '--new-option'],
    ['npx -z value notes', '-z'],
    ['node -e code', '-e'],
    ['bash -lc notes', '-lc'],
    ['python -c code', '-c'],
    ['npx -c notes', '-c'],
    ['npx -y', 'no word'],
    ['java -jar github-server.jar', 'java may start'],
    ['/usr/bin/java -jar github-server.jar', 'java may start'],
    ['go run ./cmd/github', 'go may start'],
    ['poetry run mcp-server-git', 'poetry may start'],
    ['op run -- npx -y mcp-server-git', 'op may start'],
    ['timeout 30 npx mcp-server-git', 'timeout may start'],
    ['a-starter-of-tomorrow npx mcp-server-git', 'tomorrow may start'],
    ['npm start', 'start could be'],
    ['npm run dev', 'dev could be'],
    ['node dist/index.js', 'index could be'],
    ['uv --directory /x run main.py', 'main could be'],
    ['npx -y mcp-remote https://mcp.linear.app/sse', 'remote could be'],
    ['npx @smithery/cli run @x/github', 'cli could be'],
  ])('of %s is in doubt', (line, doubt) => {
    expect(nameFromCommand(line.split(' '))).toEqual({ doubt: expect.stringContaining(doubt) })
  })

  it.each([
    ['https://mcp.example.com/github/mcp', { name: 'github' }],
    ['https://mcp.linear.app/sse', { name: 'linear' }],
    ['http://127.0.0.1:3000/mcp', { doubt: 'nothing in its address is a name' }],
  ])('at %s', (url, found) => {
    expect(nameFromUrl(new URL(url))).toEqual(found)
  })
})
