import type { Fault } from '@svc/devnet/providers/http/faults'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ALL_CHUNKS, expectStored, newObject, ONE_POST, watch } from './new-object.ts'
import { startTestArweave, type TestArweave, type TestObject } from './start-arweave.ts'

const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

let arweave: TestArweave
beforeAll(async () => {
  arweave = await startTestArweave()
})
afterAll(() => arweave.server.stop())
afterEach(() => arweave.server.recover())

const BEFORE: Fault = { status: 503, code: 'away' }
const HALFWAY: Fault = { cutBodyAt: 50_000 }
const AFTER: Fault = 'lost answer'
const NEVER: Fault = 'silence'

const BEGIN = /GET .*\/-1\/-1/

/** Runs the delivery until this step, and then aborts it. */
async function deliverUntil(step: RegExp, object: TestObject): Promise<void> {
  const stop = new AbortController()
  const before = arweave.server.requests.length
  const delivery = arweave.store.deliver({ ...object, signal: stop.signal }).catch((error) => error)
  await expect.poll(() => arweave.server.requests.slice(before).some((line) => step.test(line))).toBe(true)
  stop.abort()
  expect(await delivery).toBe(stop.signal.reason)
}

describe.each([
  [
    'small',
    ONE_POST,
    [
      [/POST \/v1\/tx/, [BEFORE, HALFWAY, AFTER, NEVER]],
      [/GET \/v1\/tx/, [BEFORE, AFTER, NEVER]],
    ],
  ],
  [
    'large',
    ALL_CHUNKS,
    [
      [BEGIN, [BEFORE, AFTER, NEVER]],
      [/GET .*\/[0-9a-f-]{36}\/-1/, [BEFORE, AFTER]],
      [/POST .*\/0$/, [BEFORE, HALFWAY, AFTER, NEVER]],
      [/POST .*\/8388608$/, [BEFORE, HALFWAY, AFTER]],
      [/POST .*\/finalize/, [BEFORE, AFTER, NEVER]],
      [/GET \/v1\/chunks\/.*\/status/, [BEFORE, AFTER]],
      [/GET \/v1\/tx/, [BEFORE, AFTER]],
    ],
  ],
] as const)('a %s object on its way to Arweave', (size, once, steps) => {
  it.each(steps.flatMap(([step, faults]) => faults.map((fault) => ({ step, fault }))))(
    'T-19 continues after $fault at $step, and nothing is sent or paid for twice',
    { tags: ['nightly'] },
    async ({ step, fault }) => {
      const withoutRetries = await arweave.open({}, { attempts: 1 })
      const sinceThen = watch(arweave.server)
      const object = newObject(size)
      // Requests that change nothing are repeated once when the connection breaks.
      const times = fault === AFTER && step.source.startsWith('GET') ? 2 : 1
      arweave.server.fail({ at: step, fault, times })
      if (fault === NEVER) await deliverUntil(step, object)
      else await expect(withoutRetries.deliver(object)).rejects.toMatchObject(UNAVAILABLE)
      await expect.poll(object.openStreams).toBe(0)
      const { ref } = await arweave.store.deliver(object)
      // An upload whose first answer is lost stays unused.
      const isUnused = step === BEGIN && fault === AFTER
      expect(sinceThen()).toEqual({ ...once, begun: once.begun + (isUnused ? times : 0) })
      await expectStored(arweave.store, object, ref)
    },
  )
})
