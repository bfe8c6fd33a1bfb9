// Behaviours of a node that is disconnected, broken or dishonest.

import { type Behaviour, honestly } from '@svc/devnet/faulty-node'
import type { Random } from '../mixed/random.ts'

/** Breaks every connection, or answers without a usable result. */
export function disconnect(random: Random): Behaviour {
  const stalls: Behaviour = () => null
  const breaks: Behaviour = () => {
    throw new Error('the connection breaks')
  }
  const answers =
    (status: number, body: string): Behaviour =>
    () => ({ status, body })
  return random.pick([
    stalls,
    breaks,
    answers(500, 'oops'),
    answers(429, '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"too many requests"}}'),
    answers(200, '<html>maintenance</html>'),
    answers(200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}'),
    answers(200, '{"jsonrpc":"2.0","id":1,"result":null}'),
  ])
}

/** Lies that would be costly to trust: that nothing has landed and every transaction has expired, or that more was paid. */
export function lying(random: Random): Behaviour {
  const forgets: Record<string, (result: never) => unknown> = {
    getSignatureStatuses: (result: { value: unknown[] }) => ({ ...result, value: result.value.map(() => null) }),
    getTransaction: () => null,
    getSignaturesForAddress: () => [],
    getBlockHeight: (height: number) => height + 1_000_000,
    eth_getTransactionReceipt: () => null,
    eth_getTransactionByHash: () => null,
    eth_blockNumber: () => '0xfffffff',
    eth_getTransactionCount: () => '0x0',
  }
  const multiply = (result: unknown): unknown => JSON.parse(JSON.stringify(result, (_key, value) => larger(value)))
  const inflates: Record<string, (result: never) => unknown> = {
    getTransaction: multiply,
    getBalance: multiply,
    getTokenAccountBalance: multiply,
    getLatestBlockhash: multiply,
    eth_getTransactionReceipt: multiply,
    eth_getTransactionByHash: multiply,
    eth_call: multiply,
    eth_getBalance: multiply,
  }
  const lies = random.pick([forgets, inflates])
  return async (call) => {
    const change = lies[call.method]
    if (!change) return honestly(call)
    const { result, ...answer } = JSON.parse(await call.honest()) as { result: never } // the local chain's answer
    const changed = result === undefined || result === null ? result : change(result)
    return { body: JSON.stringify({ ...answer, result: changed }) }
  }
}

function larger(value: unknown): unknown {
  if (typeof value === 'number') return value * 7 + 1
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return String(Number(value) * 7 + 1)
  return value
}
