// Customers who buy, store and attest at any gateway of a fleet, and record what the gateways promised.

import { setTimeout } from 'node:timers/promises'
import { type ChainAddresses, type PayableLeg, payLeg } from '../../packages/devnet/src/pay-leg.ts'
import { DEMO_PAYERS } from '../../packages/devnet/src/primary-chain/dev-accounts.ts'
import { bytesOf, ed25519Identity, type SignedCall, signCall } from '../../packages/devnet/src/services/signing.ts'

export interface Customers {
  answers(): number
  /** Stops the customers, checks the promises, and returns the problems. */
  stop(): Promise<string[]>
}

interface Promised {
  receiptId: string
  files: string[]
  statements: number
}

type Body = Record<string, unknown>

const CUSTOMERS = 3
const WRITES = 5

export function startCustomers(urls: readonly string[], chains: ChainAddresses): Customers {
  const problems: string[] = []
  const promised: Promised[] = []
  let count = 0
  let turn = 0
  let isOver = false

  /** Sends a request to the next gateway and skips one that is being replaced, as a proxy does. */
  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Body> {
    const bytes = bytesOf(body)
    const type = bytes && !headers['content-type'] && { 'content-type': 'application/json' }
    for (;;) {
      const url = urls[turn++ % urls.length] as string
      const init = { method, headers: { ...type, ...headers }, ...(bytes && { body: bytes as BodyInit }) }
      const response = await fetch(url + path, init).catch(() => null)
      if (!response) {
        await setTimeout(50)
        continue
      }
      count++
      const text = await response.text()
      if (response.status !== 200 && response.status !== 402)
        throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : { text }
    }
  }

  async function customer(payer: number): Promise<void> {
    const owner = ed25519Identity(DEMO_PAYERS[payer]?.privateKeyBytes)
    const call = (request: SignedCall) => {
      const { headers, body } = signCall(owner, request, Date.now())
      return send(request.method ?? 'GET', request.path, body, headers)
    }
    const leg = { pay_network: 'primary-mainnet', pay_asset: 'SOL' }
    const quote = await send('POST', '/v1/storage/request', { units: 1, ...leg })
    const [chosen] = quote.accepts as [PayableLeg]
    const tx = await payLeg(chains, chosen, { payer })
    const order = { pay_req_id: chosen.extra.pay_req_id, ...leg }
    let receiptId: string | undefined
    while (!receiptId)
      receiptId = (await send('POST', '/v1/storage/confirm', order, { 'x402-tx': tx })).receipt_id as string
    const provision = { receipt_id: receiptId, tags: [] }
    const path = '/v1/storage/signed_provision'
    const { space } = await call({ method: 'POST', path, body: provision, ops: ['locker:provision'], receiptId })
    const lockerId = (space as { locker_id: string }).locker_id
    const promise: Promised = { receiptId, files: [], statements: 0 }
    promised.push(promise)
    for (let i = 0; i < WRITES && !isOver; i++) {
      const filename = `file ${i}`
      const create = { filename, content_type: 'text/plain' }
      const files = `/v1/lockers/${lockerId}/files`
      const urls = await call({ method: 'POST', path: files, body: create, ops: ['locker:write'], receiptId, lockerId })
      const { pathname } = new URL(urls.upload_url as string)
      await send('PUT', pathname, Buffer.from(filename), { 'content-type': 'text/plain' })
      await send('POST', `/v1/files/confirm?${new URLSearchParams({ receipt_id: receiptId, filename })}`)
      promise.files.push(filename)
      const attest = `/v1/storage/attest?receipt_id=${receiptId}&sync=true`
      await call({ method: 'POST', path: attest, ops: ['locker:attest'], receiptId })
      promise.statements = i + 1
    }
  }

  async function repeatCustomer(payer: number): Promise<void> {
    while (!isOver) await customer(payer).catch((error: Error) => problems.push(error.message))
  }

  async function check({ receiptId, files, statements }: Promised): Promise<void> {
    for (const filename of files) {
      const { text } = await send('GET', `/v1/r/${receiptId}/f/${encodeURIComponent(filename)}`)
      if (text !== filename) problems.push(`${receiptId}: ${filename} is ${text}`)
    }
    if (statements === 0) return
    const { statements: found } = await send('GET', `/v1/storage/statements?receipt_id=${receiptId}`)
    const chain = found as { sequence: number; statement_digest: string; prev_statement_digest: string | null }[]
    const inOrder = chain.toSorted((a, b) => a.sequence - b.sequence)
    const isComplete = inOrder.every(
      ({ sequence, prev_statement_digest }, i) =>
        sequence === i + 1 && prev_statement_digest === (inOrder[i - 1]?.statement_digest ?? null),
    )
    if (!isComplete || inOrder.length < statements)
      problems.push(`${receiptId}: ${inOrder.length} of ${statements} statements`)
  }

  const customers = Array.from({ length: CUSTOMERS }, (_, payer) => repeatCustomer(payer))
  return {
    answers: () => count,
    async stop() {
      isOver = true
      await Promise.all(customers)
      for (const one of promised) await check(one).catch((error: Error) => problems.push(error.message))
      console.log(
        `${promised.length} lockers, ${promised.reduce((sum, { files }) => sum + files.length, 0)} files, ${count} answers`,
      )
      return problems
    },
  }
}
