import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ONLINE_FACTS } from '../src/facts.ts'
import type { Rpc } from '../src/rpc.ts'
import { givenOf, packBytes, verified } from './pack.ts'

const anyJson = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)))

/** A bundle whose statement is in the registry. */
const bundle = await packBytes('registry-latest.json')

async function factsBy(rpc: Rpc) {
  return (await verified([bundle], { rpc })).facts
}

describe('hostile nodes', () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error('trap')
      },
    },
  )

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a bigint', 1n],
    ['a circular object', circular],
    ['an object that throws', trap],
    ['a function', () => 1],
    ['a text', 'hello'],
    ['a list', []],
  ])('CLI-03 make every fact unavailable by answering with %s', async (_, answer) => {
    const facts = await factsBy(async () => answer)
    for (const name of ONLINE_FACTS) expect(facts[name].value, name).toBe('unavailable')
  })

  it('CLI-03 cannot cause an exception or a passed fact with any JSON', { tags: ['nightly'] }, async () => {
    const { rpc: honest } = await givenOf({ rpc: 'registry-latest.rpc.json' })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('getGenesisHash', 'getTransaction', 'getAccountInfo'),
        anyJson,
        async (lying, lie) => {
          const rpc: Rpc = async (method, params) => (method === lying ? lie : honest!(method, params))
          const facts = await factsBy(rpc)
          const touched = lying === 'getAccountInfo' ? facts.registry_matches : facts.anchor_tx_succeeded
          expect(touched.value).not.toBe('passed')
        },
      ),
      { numRuns: 100 },
    )
  })
})
