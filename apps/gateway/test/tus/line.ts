import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Line {
  url: string
  target: string
  /** Cuts a connection when so many more bytes were sent to the gateway, once. */
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
    client.on('data', (chunk: Buffer) => {
      gateway.write(chunk)
      if (line.cutAfter === null) return
      line.cutAfter -= chunk.length
      if (line.cutAfter > 0) return
      line.cutAfter = null
      client.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  line.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return line
}
