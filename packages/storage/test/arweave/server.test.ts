// The local service accepts items that another implementation made, and rejects invalid ones.

import { randomBytes } from 'node:crypto'
import { createData, SolanaSigner } from '@dha-team/arbundles'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SEED, startTestArweave, type TestArweave } from './start-arweave.ts'

const signer = new SolanaSigner(toBase58(Buffer.concat([SEED, ed25519Signer(SEED).publicKey])))

let arweave: TestArweave
beforeAll(async () => {
  arweave = await startTestArweave()
})
afterAll(() => arweave.server.stop())

async function post(item: Uint8Array<ArrayBuffer>): Promise<number> {
  const { status } = await fetch(`${arweave.server.uploadUrl}/v1/tx/solana`, { method: 'POST', body: item })
  return status
}

it.each([
  ['bare', {}],
  ['with an anchor', { anchor: 'x'.repeat(32) }],
  ['with tags', { tags: [{ name: 'Content-Type', value: 'text/plain' }] }],
  ['with many tags', { tags: Array.from({ length: 128 }, (_, i) => ({ name: `n${i}`, value: 'ä'.repeat(5) })) }],
])(
  'the local Arweave service accepts an item of another implementation once, %s, and rejects it with a changed bit',
  { tags: ['nightly'] },
  async (_, options) => {
    const data = randomBytes(500)
    const item = createData(data, signer, options)
    await item.sign(signer)
    const raw = Uint8Array.from(item.getRaw())
    for (let i = 0; i < 40; i++) {
      const changed = raw.slice()
      const place = i < 20 ? i * 8 : Math.floor((raw.length * i) / 40)
      changed[place]! ^= 1 << (i % 8)
      expect([place, await post(changed)]).toEqual([place, 400])
    }
    expect([await post(raw.slice(0, -1)), await post(raw.slice(0, 50))]).toEqual([400, 400])
    expect([await post(raw), await post(raw)]).toEqual([200, 202])
    const given = await fetch(`${arweave.server.gateways[1]}/${item.id}`)
    expect(Buffer.from(await given.arrayBuffer()).equals(data)).toBe(true)
  },
)
