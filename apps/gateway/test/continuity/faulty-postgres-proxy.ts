import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface FaultyPostgresProxy {
  /** The URL of the database, through the proxy. */
  url: string
  /** Makes the next commit after an insert into this table, and loses its answer: the connection breaks. */
  loseCommitOf(table: string): void
  /**
   * Answers the next commit after an insert into this table. The next query on that connection breaks all connections,
   * and later ones lead to the database that `swap` has put in its place.
   */
  failOverAfter(table: string, swap: () => Promise<void>): void
  close(): Promise<void>
}

/** A proxy between a gateway and PostgreSQL that fails like a bad network. */
export async function openFaultyPostgresProxy(databaseUrl: string): Promise<FaultyPostgresProxy> {
  const target = new URL(databaseUrl)
  const open = new Set<Socket>()
  let losing: string | null = null
  let swap: (() => Promise<void>) | null = null
  let swapped = Promise.resolve()

  async function join(client: Socket): Promise<void> {
    let isWriting = false
    let isCommitted = false
    let isLost = false
    client.on('error', () => client.destroy())
    // The bytes of the client wait until then.
    await swapped
    const postgres = connect(Number(target.port), target.hostname)
    const end = () => {
      for (const socket of [client, postgres]) open.delete(socket.destroy())
    }
    for (const socket of [client, postgres]) open.add(socket.on('error', end).on('close', end))
    client.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      if (isCommitted && swap) return failOver(swap)
      if (losing !== null && text.includes(`insert into "${losing}"`)) isWriting = true
      if (isWriting && /\bcommit\0/i.test(text)) {
        losing = null
        isWriting = false
        isCommitted = swap !== null
        isLost = swap === null
      }
      postgres.write(chunk)
    })
    postgres.on('data', (chunk) => void (isLost ? end() : client.write(chunk)))
  }

  function failOver(to: () => Promise<void>): void {
    swap = null
    swapped = to()
    for (const socket of open) socket.destroy()
  }

  const server = createServer((client) => void join(client))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = new URL(databaseUrl)
  url.port = String(port)
  return {
    url: url.href,
    loseCommitOf(table) {
      losing = table
    },
    failOverAfter(table, to) {
      losing = table
      swap = to
    },
    close() {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
