// Sends prepared bytes as requests and reads as little as possible of the responses: a load that leaves the processor
// to the server.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const CONNECTIONS = 64
/** Requests in flight on each connection. */
const DEPTH = 2

/** Seconds until all requests are answered with 200. */
export async function sendAll(url: string, requests: readonly Buffer[]): Promise<number> {
  const { hostname, port } = new URL(url)
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(Number(port), hostname))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  let next = 0
  const startedAt = performance.now()
  await Promise.all(sockets.map((socket) => answerAll(socket, () => requests[next++])))
  const seconds = (performance.now() - startedAt) / 1000
  for (const socket of sockets) socket.destroy()
  return seconds
}

function answerAll(socket: Socket, nextRequest: () => Buffer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let underWay = 0
    let rest = ''
    function send(count: number): void {
      const batch = Array.from({ length: count }, nextRequest).filter((request) => request !== undefined)
      underWay += batch.length
      if (batch.length > 0) socket.write(Buffer.concat(batch))
      else if (underWay === 0) resolve()
    }
    socket.setEncoding('latin1').on('data', (text: string) => {
      const answers = splitAnswers(rest + text)
      rest = answers.rest
      if (answers.wrong) return void reject(new Error(answers.wrong))
      underWay -= answers.count
      send(answers.count)
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    send(DEPTH)
  })
}

function splitAnswers(text: string): { count: number; rest: string; wrong: string | null } {
  let [count, at] = [0, 0]
  for (;;) {
    const body = text.indexOf('\r\n\r\n', at) + 4
    if (body < 4) break
    const head = text.slice(at, body)
    if (!head.startsWith('HTTP/1.1 200 ')) return { count, rest: '', wrong: text.slice(at, at + 500) }
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1])
    if (text.length < body + length) break
    at = body + length
    count++
  }
  return { count, rest: text.slice(at), wrong: null }
}
