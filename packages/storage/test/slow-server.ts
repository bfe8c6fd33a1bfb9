// A slow provider. A client places and pays for an order, then sends its bytes. They can be read by their ref once they
// are sealed. A test can stop the server, and delay or disconnect a request at any step.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

/** Before and after an order is stored, when bytes arrive, when they are complete; before an object is looked up. */
type Step = 'ordering' | 'ordered' | 'sending' | 'sent' | 'looking'

interface Order {
  size: number
  sha256: string
  isWhole: boolean
}

export interface SlowServer {
  url: string
  /** All connections are closed. */
  isDown: boolean
  /** Complete orders receive their ref. */
  isSealing: boolean
  /** Objects with a ref can be read. */
  isReadable: boolean
  /** How many orders were paid for these bytes, and how often they arrived completely. */
  paid(sha256: string): number
  received(sha256: string): number
  /** The next request for these bytes waits at this step; `release` continues it, `disconnect` breaks its connection. */
  holdUp(sha256: string, step: Step): { reached: Promise<void>; release(): void; disconnect(): void }
  /** Breaks the connection of the next request for these bytes at this step. */
  disconnect(sha256: string, step: Step): void
  stop(): Promise<void>
}

export async function startSlowServer(): Promise<SlowServer> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-slow-'))
  const orders = new Map<string, Order>()
  const arrivals: string[] = []
  const obstacles = new Map<string, { reach(): void; isPassable: Promise<boolean> }[]>()

  /** False when the connection is broken. */
  async function pass(step: Step, sha256: string, { socket }: IncomingMessage): Promise<boolean> {
    const obstacle = obstacles.get(`${step} ${sha256}`)?.shift()
    obstacle?.reach()
    if (!obstacle || (await obstacle.isPassable)) return true
    socket.destroy()
    return false
  }

  async function placeOrder(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { size, sha256 } = JSON.parse(await text(request)) as Pick<Order, 'size' | 'sha256'>
    if (!(await pass('ordering', sha256, request))) return
    if (!orders.has(id)) orders.set(id, { size, sha256, isWhole: false })
    if (await pass('ordered', sha256, request)) reportState(response, id)
  }

  async function receiveBytes(id: string, order: Order, request: IncomingMessage, response: ServerResponse) {
    const sha256 = createHash('sha256')
    async function* watched() {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        if (!(await pass('sending', order.sha256, request))) return
        sha256.update(chunk)
        yield chunk
      }
    }
    await pipeline(watched(), createWriteStream(join(folder, id)))
    if (sha256.digest('hex') !== order.sha256) return void response.writeHead(422).end()
    arrivals.push(order.sha256)
    order.isWhole = true
    if (await pass('sent', order.sha256, request)) reportState(response, id)
  }

  function reportState(response: ServerResponse, id: string): void {
    const isWhole = orders.get(id)?.isWhole ?? false
    response.end(JSON.stringify({ isWhole, ref: isWhole && server.isSealing ? id : null }))
  }

  async function sendBytes(id: string, order: Order, request: IncomingMessage, response: ServerResponse) {
    if (!(await pass('looking', order.sha256, request))) return
    if (!order.isWhole || !server.isReadable) return void response.writeHead(404).end()
    const path = join(folder, id)
    const { size } = await stat(path)
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const [start, end] = first === undefined ? [0, size - 1] : [Number(first), Number(last)]
    response.writeHead(first === undefined ? 200 : 206, { 'content-length': end - start + 1 })
    if (request.method === 'HEAD' || size === 0) return void response.end()
    await pipeline(createReadStream(path, { start, end }), response)
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (server.isDown) return void request.socket.destroy()
    const [, kind, id = ''] = (request.url ?? '').split('/')
    const order = orders.get(id)
    if (kind === 'orders' && request.method === 'POST') return placeOrder(id, request, response)
    if (!order) return void response.writeHead(kind === 'health' ? 200 : 404).end()
    if (kind === 'objects') return sendBytes(id, order, request, response)
    return request.method === 'PUT' ? receiveBytes(id, order, request, response) : reportState(response, id)
  }

  const http = createServer((request, response) => {
    // The client may be killed meanwhile.
    answer(request, response).catch(() => request.socket.destroy())
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')

  const server: SlowServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, // a listening TCP server has one
    isDown: false,
    isSealing: true,
    isReadable: true,
    paid: (sha256) => [...orders.values()].filter((order) => order.sha256 === sha256).length,
    received: (sha256) => arrivals.filter((arrived) => arrived === sha256).length,
    holdUp(sha256, step) {
      const reached = Promise.withResolvers<void>()
      const passable = Promise.withResolvers<boolean>()
      const place = `${step} ${sha256}`
      const obstacle = { reach: reached.resolve, isPassable: passable.promise }
      obstacles.set(place, [...(obstacles.get(place) ?? []), obstacle])
      return {
        reached: reached.promise,
        release: () => passable.resolve(true),
        disconnect: () => passable.resolve(false),
      }
    },
    disconnect(sha256, step) {
      server.holdUp(sha256, step).disconnect()
    },
    async stop() {
      const closed = once(http, 'close')
      http.close()
      http.closeAllConnections()
      await closed
      await rm(folder, { recursive: true })
    },
  }
  return server
}
