import { describe, expect, it } from 'vitest'
import { recordAndSend, sendOnce, watchOutcome } from '../src/transactions.ts'

/** A table with one row, a chain that accepts all transactions, and the order of events. */
function sender({ isTaken = false, losesFirst = false } = {}) {
  const steps: string[] = []
  let recorded: string | null = null
  let signed = 0
  const landed = new Set<string>()
  return {
    steps,
    async resolve() {
      steps.push(`resolve ${recorded}`)
      if (recorded === null) return null
      if (landed.has(recorded)) return recorded
      recorded = null
      return null
    },
    async sign() {
      signed++
      steps.push(`sign tx${signed}`)
      return `tx${signed}`
    },
    async record(tx: string) {
      steps.push(`record ${tx}`)
      recorded = isTaken ? 'other' : tx
      if (isTaken) landed.add('other')
      return !isTaken
    },
    async send(tx: string) {
      steps.push(`send ${tx}`)
      if (!losesFirst || tx !== 'tx1') landed.add(tx)
    },
  }
}

describe('sending a transaction once', () => {
  it('T-19 stores it before it is sent, and resolves it by the stored record', async () => {
    const steps = sender()
    expect(await sendOnce(steps)).toBe('tx1')
    expect(steps.steps).toEqual(['resolve null', 'sign tx1', 'record tx1', 'send tx1', 'resolve tx1'])
  })

  it('T-19 does not send it when another transaction was stored first', async () => {
    const steps = sender({ isTaken: true })
    expect(await sendOnce(steps)).toBe('other')
    expect(steps.steps).not.toContain('send tx1')
    expect(await recordAndSend('tx', steps)).toBeNull()
  })

  it('T-19 signs another only after the first is resolved as lost', async () => {
    const steps = sender({ losesFirst: true })
    expect(await sendOnce(steps)).toBe('tx2')
    expect(steps.steps.indexOf('resolve tx1')).toBeLessThan(steps.steps.indexOf('sign tx2'))
  })

  it('T-19 signs nothing while the stored transaction may still land', async () => {
    const steps = sender()
    const pending = { ...steps, resolve: () => Promise.reject(new Error('pending')) }
    await expect(sendOnce(pending)).rejects.toThrow('pending')
    expect(steps.steps).toEqual([])
  })
})

describe('watching a transaction', () => {
  const never = () => Promise.reject(new Error('not needed'))

  it('ends with the first outcome that is known', async () => {
    const outcomes = ['pending', 'pending', 'failed'] as const
    let asked = 0
    const ask = async () => ({ outcome: outcomes[asked++]! })
    expect(await watchOutcome({ ask, resend: never, timeoutMs: 60_000 })).toEqual({ outcome: 'failed' })
  })

  it('asks at least once, and returns pending when the time is up', async () => {
    let asked = 0
    const ask = async () => ({ outcome: asked++ > 0 ? ('landed' as const) : ('pending' as const) })
    expect(await watchOutcome({ ask, resend: never, timeoutMs: 0 })).toEqual({ outcome: 'pending' })
    expect(asked).toBe(1)
  })

  it('sends the transaction again while it is pending', { tags: ['nightly'] }, async () => {
    let isSent = false
    const ask = async () => ({ outcome: isSent ? ('landed' as const) : ('pending' as const) })
    const resend = async () => {
      isSent = true
    }
    expect(await watchOutcome({ ask, resend, timeoutMs: 60_000 })).toEqual({ outcome: 'landed' })
  })
})
