// A name server on this machine that gives the answers it was created with, or none.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

/** The addresses of a name; null leaves the question without an answer. */
export type Zone = (hostname: string) => readonly string[] | null

export interface DnsServer {
  /** Address and port, in the form that resolvers accept. */
  address: string
  /** Every name that was looked up, in order. */
  readonly asked: string[]
  stop(): Promise<void>
}

const TYPE_A = 1
const TYPE_AAAA = 28
const HEADER_BYTES = 12
const NAME_ERROR = 3

export async function startDnsServer(zone: Zone): Promise<DnsServer> {
  const asked: string[] = []
  const socket = createSocket('udp4', (query, { port, address }) => {
    const { hostname, type, question } = readQuestion(query)
    asked.push(hostname)
    const addresses = zone(hostname)
    if (addresses) socket.send(answer(query, question, addresses, type), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    async stop() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

function readQuestion(query: Buffer): { hostname: string; type: number; question: Buffer } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] as number; length > 0; length = query[at] as number) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return {
    hostname: labels.join('.').toLowerCase(),
    type: query.readUInt16BE(at + 1),
    question: query.subarray(HEADER_BYTES, at + 5),
  }
}

function answer(query: Buffer, question: Buffer, addresses: readonly string[], type: number): Buffer {
  const records = addresses.filter((address) => type === (isIPv4(address) ? TYPE_A : TYPE_AAAA)).map(record)
  const header = Buffer.alloc(HEADER_BYTES)
  query.copy(header, 0, 0, 2) // the id
  header.writeUInt16BE(0x8180 | (addresses.length === 0 ? NAME_ERROR : 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, question, ...records])
}

/** With a pointer to the name in the question, and no time to live. */
function record(address: string): Buffer {
  const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address)
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(isIPv4(address) ? TYPE_A : TYPE_AAAA, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function ipv6Bytes(address: string): Buffer {
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
