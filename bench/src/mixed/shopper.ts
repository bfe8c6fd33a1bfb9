// The tools of every step of a buyer: a client that retries until it gets an answer, and the acknowledged results.

import { setTimeout } from 'node:timers/promises'
import type { ChainAddresses } from '@svc/devnet/pay-leg'
import type { Identity, SignedCall } from '@svc/devnet/services/signing'
import type { Answer, Body, Client, SentRequest } from './client.ts'
import type { Ledger } from './ledger.ts'
import type { Random } from './random.ts'

interface ShopperOptions {
  client: Client
  chains: ChainAddresses
  ledger: Ledger
  random: Random
  /** The storage providers of the lockers to buy. */
  providers: readonly string[]
  /** How long a request is retried before it is abandoned. */
  giveUpMs: number
  /** The share of acknowledged envelopes that are sent again. */
  replayShare: number
}

export interface Shopper extends ShopperOptions {
  /** Retries a request until it is acknowledged with this status and a body that is `enough`. */
  attempt(status: number, send: () => Promise<Answer | null>, enough?: (body: Body) => boolean): Promise<Answer | null>
  /** Like `attempt`, with a new envelope each time. After a lost answer, an error in `doneCodes` counts as done. */
  signed(who: Identity, operation: string, call: SignedCall, doneCodes?: readonly string[]): Promise<Body | null>
}

const LONGEST_PAUSE_MS = 400
/** Envelopes are valid for a minute. */
const REPLAY_WITHIN_MS = 40_000
const REMEMBERED = 40

export function createShopper(options: ShopperOptions): Shopper {
  const { client, ledger, random, giveUpMs, replayShare } = options
  const acknowledged: SentRequest[] = []

  async function attempt(status: number, send: () => Promise<Answer | null>, enough = (_body: Body) => true) {
    const giveUpAt = performance.now() + giveUpMs
    const { length: losses } = ledger.losses
    for (;;) {
      const answer = await send()
      if (answer?.status === status && enough(answer.body)) return answer
      // The restored database no longer has the subject of this request.
      if (ledger.losses.length > losses && answer && isGone(answer.status)) return null
      if (performance.now() > giveUpAt) break
      await setTimeout(random.below(LONGEST_PAUSE_MS))
    }
    ledger.givenUp++
    return null
  }

  async function replayOne(): Promise<void> {
    const old = random.pick(acknowledged)
    if (Date.now() - old.sentAt > REPLAY_WITHIN_MS) return
    const again = await client.send({ ...old, operation: 'replay' })
    if (again === null) return
    ledger.replays++
    if (again.status < 300) ledger.violations.push(`the envelope of "${old.operation}" was accepted twice`)
  }

  return {
    ...options,
    attempt,
    async signed(who, operation, call, doneCodes = []) {
      let attempts = 0
      const answer = await attempt(200, async () => {
        const { answer, sent } = await client.sendSigned(who, operation, call)
        if (answer?.status === 200) acknowledged.push(sent)
        if (acknowledged.length > REMEMBERED) acknowledged.shift()
        const isDone = attempts++ > 0 && doneCodes.includes(answer?.body.error as string)
        return isDone && answer ? { ...answer, status: 200 } : answer
      })
      if (acknowledged.length > 0 && random.chance(replayShare)) await replayOne()
      return answer?.body ?? null
    },
  }
}

function isGone(status: number): boolean {
  return [400, 403, 404, 409, 410, 422].includes(status)
}
