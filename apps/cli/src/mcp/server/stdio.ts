// Serves the one client that started this process, over stdin and stdout.

import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { Host } from '../../host.ts'
import { type Running, STOP_WITHIN_MS } from './http.ts'
import { createServer, type Serving } from './server.ts'

/** Calls `onClientGone` when the client closes its end. */
export async function serveStdio(
  serving: Serving,
  { stdin, stdout }: Pick<Host, 'stdin' | 'stdout'>,
  onClientGone: () => void,
): Promise<Running> {
  const server = createServer(serving)
  stdin.once('end', onClientGone)
  // Not `once`: calls that still run write their answers too.
  stdout.on('error', onClientGone)
  await server.connect(new StdioServerTransport(stdin, stdout))
  return {
    async stop() {
      await serving.calls.drain(STOP_WITHIN_MS)
      await server.close()
    },
  }
}
