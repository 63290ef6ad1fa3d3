// The test server as a process.

import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { makeServer } from './tools.mjs'

await makeServer().connect(new StdioServerTransport())
