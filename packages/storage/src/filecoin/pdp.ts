// The protocol by which a provider takes pieces and adds them to data sets.

import type { IncomingHttpHeaders } from 'node:http'
import { createAgent } from '../http/agent.ts'
import { exchange } from '../http/exchange.ts'
import { readText } from '../http/read-text.ts'
import type { Body } from '../http/send-body.ts'
import { ProviderError } from '../provider.ts'
import type { Patience } from './patience.ts'
import { Refusal } from './errors.ts'

type Hex = `0x${string}`

export interface Pdp {
  /** Whether the provider has it, ready to be added to a data set. */
  hasPiece(cid: string): Promise<boolean>
  /** The id of an upload that bytes may be sent to. */
  beginUpload(): Promise<string>
  send(upload: string, bytes: AsyncIterable<Buffer>, length: number): Promise<void>
  /** The status of the answer: 200, 400 where the bytes are others, 404 also where it was finished before. */
  finishUpload(upload: string, cid: string): Promise<number>
  createDataSet(recordKeeper: Hex, extraData: Hex): Promise<void>
  /** The hash of the transaction that is to do it. */
  addPiece(dataSet: string, cid: string, extraData: Hex): Promise<string>
  /** Null when the provider knows of no such transaction. */
  transactionStatus(dataSet: string, transaction: string): Promise<'pending' | 'confirmed' | 'rejected' | null>
  ping(): Promise<void>
  close(): void
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** All connections break when the signal says so, or it is closed. Nothing is asked twice. */
export function openPdp(pdpUrl: string, patience: Patience, signal: AbortSignal): Pdp {
  const agent = createAgent(pdpUrl, { keepAlive: false })
  const close = () => {
    signal.removeEventListener('abort', close)
    agent.destroy()
  }
  signal.addEventListener('abort', close)

  async function ask(method: string, path: string, body: Body = null): Promise<Answer> {
    signal.throwIfAborted()
    const type = Buffer.isBuffer(body) ? 'application/json' : 'application/octet-stream'
    const headers = body === null ? {} : { 'content-type': type }
    const { answer, outgoing } = await exchange({ method, url: pdpUrl + path, headers }, body, agent, patience)
    const text = await readText(answer, patience.idleMs)
    if (!outgoing.writableEnded) outgoing.destroy()
    return { status: answer.statusCode ?? 0, headers: answer.headers, text }
  }

  /** Any other status than these is thrown. */
  async function expect(statuses: readonly number[], method: string, path: string, body?: Body): Promise<Answer> {
    const answer = await ask(method, path, body)
    if (statuses.includes(answer.status)) return answer
    throw new Refusal(method, path.replace(/\?.*/, ''), answer.status, answer.text)
  }

  return {
    async hasPiece(cid) {
      const { status } = await expect([200, 202, 404], 'GET', `/pdp/piece?pieceCid=${cid}`)
      return status === 200
    },
    async beginUpload() {
      const answer = await expect([201], 'POST', '/pdp/piece/uploads')
      return located(answer, /\/pdp\/piece\/uploads\/([0-9a-fA-F-]{1,64})$/)
    },
    async send(upload, bytes, length) {
      let hasBegun = false
      async function* pieces() {
        hasBegun = true
        for await (const chunk of bytes) {
          signal.throwIfAborted()
          yield [chunk]
        }
      }
      const body = { length, hasBegun: () => hasBegun, pieces }
      await expect([200, 204], 'PUT', `/pdp/piece/uploads/${upload}`, body)
    },
    async finishUpload(upload, pieceCid) {
      const { status } = await ask('POST', `/pdp/piece/uploads/${upload}`, json({ pieceCid }))
      return status
    },
    async createDataSet(recordKeeper, extraData) {
      await expect([201], 'POST', '/pdp/data-sets', json({ recordKeeper, extraData }))
    },
    async addPiece(dataSet, pieceCid, extraData) {
      const pieces = [{ pieceCid, subPieces: [{ subPieceCid: pieceCid }] }]
      const answer = await expect([201], 'POST', `/pdp/data-sets/${dataSet}/pieces`, json({ pieces, extraData }))
      return located(answer, /\/pieces\/added\/(0x[0-9a-fA-F]{64})$/)
    },
    async transactionStatus(dataSet, transaction) {
      const answer = await expect([200, 404], 'GET', `/pdp/data-sets/${dataSet}/pieces/added/${transaction}`)
      if (answer.status === 404) return null
      const { txStatus, addMessageOk } = parsed(answer.text) as { txStatus?: unknown; addMessageOk?: unknown }
      if (txStatus === 'rejected' || addMessageOk === false) return 'rejected'
      return txStatus === 'confirmed' ? 'confirmed' : 'pending'
    },
    async ping() {
      await expect([200], 'GET', '/pdp/ping')
    },
    close,
  }
}

function json(body: unknown): Buffer {
  return Buffer.from(JSON.stringify(body))
}

/** Of the address that an answer points to nothing but this is used: it could be anywhere. */
function located({ headers }: Answer, form: RegExp): string {
  const id = form.exec(headers.location ?? '')?.[1]
  if (!id) throw new ProviderError('unavailable', new Error('the provider pointed to an address of another form'))
  return id
}

function parsed(text: string): object {
  try {
    return Object(JSON.parse(text))
  } catch (error) {
    throw new ProviderError('unavailable', error)
  }
}
