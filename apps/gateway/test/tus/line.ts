import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Line {
  url: string
  target: string
  /** Cuts the connection that has sent so many bytes to the gateway, once. */
  cutAfter: number | null
  close(): void
}

/** Between the client and the gateway, as a proxy is, and as bad as a line can be. */
export async function openLine(): Promise<Line> {
  const line: Line = { url: '', target: '', cutAfter: null, close: () => void server.close() }
  const server = createServer((client) => {
    const gateway = connect(Number(new URL(line.target).port), '127.0.0.1')
    const end = (socket: Socket) => () => void socket.destroy()
    client.on('error', end(gateway)).on('close', end(gateway))
    gateway.on('error', end(client)).on('close', end(client)).pipe(client)
    let sent = 0
    client.on('data', (chunk: Buffer) => {
      sent += chunk.length
      gateway.write(chunk)
      if (line.cutAfter === null || sent < line.cutAfter) return
      line.cutAfter = null
      client.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  line.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return line
}
