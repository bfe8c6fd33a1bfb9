import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SwitchableProxy {
  url: string
  target: string
  close(): void
}

/** A proxy between the client and the gateway whose target can change. */
export async function openSwitchableProxy(): Promise<SwitchableProxy> {
  const proxy: SwitchableProxy = { url: '', target: '', close: () => void server.close() }
  const server = createServer((client) => {
    const gateway = connect(Number(new URL(proxy.target).port), '127.0.0.1')
    const end = (socket: Socket) => () => void socket.destroy()
    client.on('error', end(gateway)).on('close', end(gateway))
    gateway.on('error', end(client)).on('close', end(client)).pipe(client).pipe(gateway)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}
