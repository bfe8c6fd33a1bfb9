// The API of a provider that stores pieces and adds them to data sets (PDP).

import { createAgent } from '../http/agent.ts'
import { type Body, isHeld } from '../http/body.ts'
import { exchangeText, type TextAnswer } from '../http/exchange.ts'
import { ProviderError } from '../provider.ts'
import type { HttpTimeouts } from '../timeouts.ts'
import { answerError } from './errors.ts'

type Hex = `0x${string}`

export interface Pdp {
  /** Whether the provider has the piece, ready to be added to a data set. */
  hasPiece(cid: string): Promise<boolean>
  /** Resolves with the id of an upload, to which bytes may be sent. */
  beginUpload(): Promise<string>
  send(upload: string, bytes: AsyncIterable<Buffer>, length: number): Promise<void>
  /** Resolves with the status: 200, 400 when the bytes differ, 404 also when it was finished before. */
  finishUpload(upload: string, cid: string): Promise<number>
  createDataSet(recordKeeper: Hex, extraData: Hex): Promise<void>
  /** Resolves with the hash of the transaction. */
  addPiece(dataSet: string, cid: string, extraData: Hex): Promise<string>
  /** Null when the provider does not know the transaction. */
  transactionStatus(dataSet: string, transaction: string): Promise<'pending' | 'confirmed' | 'rejected' | null>
  ping(): Promise<void>
  close(): void
}

/** Aborting the signal, or closing, ends all connections. Nothing is sent twice. */
export function openPdp(pdpUrl: string, timeouts: HttpTimeouts, signal: AbortSignal): Pdp {
  const agent = createAgent(pdpUrl, { keepAlive: false })
  const close = () => {
    signal.removeEventListener('abort', close)
    agent.destroy()
  }
  signal.addEventListener('abort', close)

  async function ask(method: string, path: string, body: Body = null): Promise<TextAnswer> {
    signal.throwIfAborted()
    const type = body && isHeld(body) ? 'application/json' : 'application/octet-stream'
    const headers: Record<string, string> = body ? { 'content-type': type } : {}
    return exchangeText({ method, url: pdpUrl + path, headers, body, signal }, agent, timeouts)
  }

  /** Any other status is an error. */
  async function expect(statuses: readonly number[], method: string, path: string, body?: Body): Promise<TextAnswer> {
    const answer = await ask(method, path, body)
    if (statuses.includes(answer.status)) return answer
    throw answerError(`${method} ${path.replace(/\?.*/, '')}`, answer)
  }

  return {
    async hasPiece(cid) {
      const { status } = await expect([200, 202, 404], 'GET', `/pdp/piece?pieceCid=${cid}`)
      return status === 200
    },
    async beginUpload() {
      const answer = await expect([201], 'POST', '/pdp/piece/uploads')
      return idInLocation(answer, /\/pdp\/piece\/uploads\/([0-9a-fA-F-]{1,64})$/)
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
      return idInLocation(answer, /\/pieces\/added\/(0x[0-9a-fA-F]{64})$/)
    },
    async transactionStatus(dataSet, transaction) {
      const answer = await expect([200, 404], 'GET', `/pdp/data-sets/${dataSet}/pieces/added/${transaction}`)
      if (answer.status === 404) return null
      const { txStatus, addMessageOk } = parseJson(answer.text) as { txStatus?: unknown; addMessageOk?: unknown }
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

/** Only this part of the address is used: the address itself could point anywhere. */
function idInLocation({ headers }: TextAnswer, form: RegExp): string {
  const id = form.exec(headers.location ?? '')?.[1]
  if (!id) throw new ProviderError('unavailable', 'the provider answered with an unexpected location')
  return id
}

function parseJson(text: string): object {
  try {
    return Object(JSON.parse(text))
  } catch (error) {
    throw new ProviderError('unavailable', error)
  }
}
