// Behaviours for a faulty node.

import { type Behaviour, type Call, honestly, type Reply } from '@svc/devnet/faulty-node'

const OUT_OF_ORDER: Reply = { status: 503, body: 'out of order' }
export const DOWN: Behaviour = () => OUT_OF_ORDER

export function downFor(method: string): Behaviour {
  return (call) => (call.method === method ? OUT_OF_ORDER : honestly(call))
}

/** Executes the call and answers with an error. */
export function muteFor(...methods: string[]): Behaviour {
  return async (call) => {
    const answer = await honestly(call)
    return methods.includes(call.method) ? OUT_OF_ORDER : answer
  }
}

/** Reports every transaction as unknown. */
export async function blindly(call: Call): Promise<Reply> {
  const { body } = await honestly(call)
  if (call.method !== 'getSignatureStatuses') return { body }
  const { result, ...answer } = JSON.parse(body) as { result: { value: unknown[] } } // the method's result
  return { body: JSON.stringify({ ...answer, result: { ...result, value: result.value.map(() => null) } }) }
}

/** Reports that every transaction would fail. */
export async function refusingly(call: Call): Promise<Reply> {
  const err = { InstructionError: [0, { Custom: 7 }] }
  const answer = { jsonrpc: '2.0', id: 1, result: { context: { slot: 1 }, value: { err } } }
  return call.method === 'simulateTransaction' ? { body: JSON.stringify(answer) } : honestly(call)
}

/** Accepts transactions and drops them. */
export async function forgetfully(call: Call): Promise<Reply> {
  const taken = `{"jsonrpc":"2.0","id":1,"result":"${'1'.repeat(64)}"}`
  return call.method === 'sendTransaction' ? { body: taken } : honestly(call)
}

export interface Hold {
  behaviour: Behaviour
  /** Resolves when the call has arrived. */
  reached: Promise<void>
  release(): void
}

export interface HoldOptions {
  /** Whether the call waits before or after the chain has executed it. */
  when?: 'before' | 'after'
  answer?: (call: Call) => Promise<Reply>
}

/** Blocks one call of a method until `release`. */
export function holdAt(method: string, { when = 'before', answer = honestly }: HoldOptions = {}): Hold {
  const reached = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  let isUsed = false
  return {
    reached: reached.promise,
    release: held.resolve,
    async behaviour(call) {
      if (isUsed || call.method !== method) return honestly(call)
      isUsed = true
      const early = when === 'after' ? await answer(call) : null
      reached.resolve()
      await held.promise
      return early ?? answer(call)
    },
  }
}
