import { afterAll, expect, it, vi } from 'vitest'
import type { AgentSession } from '../src/pages/agent/service.ts'

const url = 'https://agent.example'
const address = 'me'
const NAME_IN_1_1_0 = `svc page subscription ${url} ${address}`

const items: Record<string, string> = Object.create({
  getItem: (key: string) => items[key] ?? null,
  setItem(key: string, value: string) {
    items[key] = value
  },
  removeItem(key: string) {
    delete items[key]
  },
})
vi.stubGlobal('localStorage', items)
afterAll(() => vi.unstubAllGlobals())

it('T-67 the page finds the payment of a subscription that a page of 1.1.0 started', async () => {
  const { readStarted } = await import('../src/pages/agent/subscribing.ts')
  const session = { service: { url }, wallet: { address } } as AgentSession // no request is made
  expect(await readStarted(session)).toBeNull()
  const record = { payer: address, order: {}, receipt: null, attempts: [{ payment: { tx: 'sent' } }] }
  localStorage.setItem(NAME_IN_1_1_0, 'subscription of 1.1.0')
  localStorage.setItem(`svc purchase ${url} subscription of 1.1.0`, JSON.stringify(record))
  for (const _ of ['moved', 'as one of this release']) expect(await readStarted(session)).toEqual(record)
  expect(localStorage.getItem(NAME_IN_1_1_0)).toBeNull()
})
