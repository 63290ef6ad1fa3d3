// A server that lets every call pass; prints its port.

import { createServer } from 'node:http'

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.end('{"decision": "approve"}'))
})
// A bench takes turns: nobody may lose its connection meanwhile.
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
