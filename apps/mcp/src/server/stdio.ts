// One client, which started this process: messages come by stdin and go by stdout.

import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { type Running, STOP_WITHIN_MS } from './http.ts'
import { createServer, type Serving } from './server.ts'

/** `gone` is called when the client has closed its end. */
export async function serveStdio(serving: Serving, gone: () => void): Promise<Running> {
  const server = createServer(serving)
  process.stdin.once('end', gone)
  // More than once: calls that are under way still answer.
  process.stdout.on('error', gone)
  await server.connect(new StdioServerTransport())
  return {
    async stop() {
      await serving.calls.ended(STOP_WITHIN_MS)
      await server.close()
    },
  }
}
