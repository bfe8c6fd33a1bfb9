// A witness that monitors one gateway, with a clock that tests advance.

import type { Alarm } from '@svc/api/witness'
import { startTestWitness } from '@svc/devnet/services/witness'
import { formatKey } from '@svc/protocol/transparency/note'
import type { Variables } from '@svc/service/program/config'
import { post, requestBody } from '../requests.ts'
import { NOW, startTestGateway } from './test-gateway.ts'

let count = 0

/** `isWithOther`: the monitor knows another witness of the log. */
export async function startMonitorStack(variables: Variables = {}, isWithOther = false) {
  const gateway = await startTestGateway(`log-${count++}.example`)
  const other = isWithOther ? await startTestWitness([gateway.line], { MONITOR_SECONDS: '0' }) : null
  const others = other ? [`witness other ${formatKey(other.context.key)} ${other.url}`] : []
  let seconds = NOW
  const settings = { MONITOR_SECONDS: '0', MONITOR_ANCHOR_SECONDS: '0', ...variables }
  const witness = await startTestWitness([gateway.line, ...others], settings, { now: () => seconds * 1000 })
  return {
    gateway,
    witness,
    /** Makes the other witness cosign the log for the first time. */
    async cosign() {
      const reply = await post(other!.url, requestBody(0, [], gateway.checkpoint))
      if (reply.status !== 200) throw new Error(reply.text)
    },
    /** Advances the clock. */
    wait(more: number) {
      seconds += more
    },
    /** Runs one round, and returns the alarms, oldest first. */
    async runRound(): Promise<Alarm[]> {
      await witness.monitor.round()
      const answer = await fetch(`${witness.url}/alarms?limit=20`)
      return ((await answer.json()) as { alarms: Alarm[] }).alarms.reverse()
    },
    async [Symbol.asyncDispose]() {
      await witness.stop()
      await other?.stop()
      await gateway.stop()
    },
  }
}

export function kindsOf(alarms: readonly Alarm[]): string[] {
  return alarms.map(({ kind }) => kind)
}
