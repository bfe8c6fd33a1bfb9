import { listFiles } from '@svc/api/files'
import { health } from '@svc/api/info'
import { DISTORTIONS, FALSEHOODS, STALLS } from '@svc/devnet/distortions'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { startHttpServer } from '@svc/devnet/http-server'
import { expect, it, onTestFinished } from 'vitest'
import { EndlessAnswer, readAnswer, readJsonAnswer } from '../../src/calls/read-answer.ts'
import { jsonRpc } from '../../src/json-rpc.ts'
import { newEd25519, openTestbed } from '../lockers.ts'

const OWN_ERRORS = ['GatewayError', 'NoAnswer', 'NotThisService', 'UntrueAnswer', 'BytesDiffer']
/** Errors of the caller's own signal. */
const OUT_OF_TIME = ['TimeoutError']

it('T-139 a client returns true results or an error of the gateway, however its answers are altered', {
  tags: ['nightly'],
}, async () => {
  const testbed = await openTestbed()
  onTestFinished(testbed.close)
  const signer = newEd25519()
  const locker = await testbed.locker(signer)
  const bytes = Buffer.from('what the owner stored')
  const client = testbed.client({ signer })
  await client.put(locker, 'a.txt', bytes)
  const { locker_id } = locker
  const asked = {
    health: async (signal: AbortSignal) => (await client.call(health, { signal })).body.status,
    list: async (signal: AbortSignal) =>
      (await client.call(listFiles, { params: { locker_id }, signal })).body.files.length,
    get: async (signal: AbortSignal) => Buffer.from(await (await client.get(locker, 'a.txt', { signal })).bytes()),
  }
  const honest = Object.fromEntries(
    await Promise.all(Object.entries(asked).map(async ([what, ask]) => [what, await ask(soon())])),
  )
  for (const [name, distort] of Object.entries({ ...STALLS, ...FALSEHOODS })) {
    testbed.proxy.always(/./, { distort })
    for (const [what, ask] of Object.entries(asked)) {
      const outcome = await ask(AbortSignal.timeout(name in STALLS ? 150 : 60_000)).catch((error: Error) => error)
      if (outcome instanceof Error)
        expect([...OWN_ERRORS, ...(name in STALLS ? OUT_OF_TIME : [])], `${what}: ${name}: ${outcome.stack}`).toContain(
          outcome.name,
        )
      else expect(outcome, `${what}: ${name}`).toEqual(honest[what])
    }
    testbed.proxy.behave()
    expect(await asked.get(soon()), `after ${name}`).toEqual(bytes)
  }
})

function soon(): AbortSignal {
  return AbortSignal.timeout(60_000)
}

/** Answers every request with seven. */
async function plainServer(): Promise<string> {
  const { url, stop } = await startHttpServer((_, response) => void response.end('{"id":1,"result":7}'))
  onTestFinished(stop)
  return url
}

it.each([
  ['answers without end', { maxBytes: 1_000_000 }, 'more than 1000000 bytes'],
  ['answers a bomb', { maxBytes: 1_000_000 }, 'more than 1000000 bytes'],
  ['sends a byte now and then', { deadlineMs: 200 }, 'not end within 0.2 s'],
  ['announces more than it sends', { deadlineMs: 200 }, 'not end within 0.2 s'],
])('T-139 a client abandons a server that %s', async (name, limits, reason) => {
  const proxy = await startFaultyProxy(await plainServer())
  onTestFinished(proxy.stop)
  expect(await readJsonAnswer(await fetch(proxy.url))).toEqual({ id: 1, result: 7 })
  proxy.always(/./, { distort: DISTORTIONS[name]! })
  const error = await readAnswer(await fetch(proxy.url), limits).catch((error: Error) => error)
  expect(error).toBeInstanceOf(EndlessAnswer)
  expect(error).toMatchObject({ message: expect.stringContaining(reason) })
})

it('T-139 a node that distorts its answers only causes an error', { tags: ['nightly'] }, async () => {
  const proxy = await startFaultyProxy(await plainServer())
  onTestFinished(proxy.stop)
  const askWithin = (timeoutMs: number) =>
    jsonRpc(proxy.url, { signal: new AbortController().signal, timeoutMs })('seven', [])
  for (const [name, distort] of Object.entries(DISTORTIONS)) {
    proxy.always(/./, { distort })
    const outcome = await askWithin(name in STALLS ? 100 : 60_000).catch((error: Error) => error)
    if (!(outcome instanceof Error)) expect(outcome, name).toBe(7)
    proxy.behave()
    expect(await askWithin(60_000), `after ${name}`).toBe(7)
  }
})
