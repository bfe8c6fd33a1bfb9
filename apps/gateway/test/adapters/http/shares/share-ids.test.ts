import { randomBytes } from 'node:crypto'
import { ed25519Signer } from '@svc/protocol/keys'
import { expect, it } from 'vitest'
import { createShareIds } from '../../../../src/adapters/http/shares/share-ids.ts'

const signer = ed25519Signer(randomBytes(32))
const ids = createShareIds(signer)
const newSeed = () => ids.newSeed(randomBytes)

it('ADD-61 gateways with the same key for short URLs derive the same id of a seed, and the seed of an id', () => {
  const [seed, other] = [newSeed(), createShareIds(signer)]
  expect(other.idOf(seed)).toBe(ids.idOf(seed))
  expect(other.seedOf(ids.idOf(seed))).toBe(seed)
  expect(ids.idOf(seed)).toMatch(/^[A-Za-z0-9_-]{22}$/)
})

it('ADD-61 the id under another key, and every changed id, belongs to another seed or to none', () => {
  const seed = newSeed()
  const id = ids.idOf(seed)
  expect(createShareIds(ed25519Signer(randomBytes(32))).idOf(seed)).not.toBe(id)
  for (let i = 0; i < id.length; i++) {
    const changed = id.slice(0, i) + (id[i] === 'A' ? 'B' : 'A') + id.slice(i + 1)
    expect(ids.seedOf(changed)).not.toBe(seed)
  }
})

it('ADD-61 no id begins with a hyphen, so a command does not read it as an option', () => {
  const seeds = Array.from({ length: 1000 }, newSeed)
  expect(seeds.filter((seed) => ids.idOf(seed).startsWith('-'))).toEqual([])
})

it('T-49 text in another form is not an id, including a second spelling of the same bytes', () => {
  for (const text of [
    '',
    'a',
    'A'.repeat(21),
    'A'.repeat(23),
    `${'A'.repeat(21)}=`,
    `${'A'.repeat(21)}é`,
    '\0'.repeat(22),
  ])
    expect(ids.seedOf(text)).toBeNull()
  // The last character has four bits that no byte uses.
  expect(ids.seedOf(`${'A'.repeat(21)}B`)).toBeNull()
  expect(ids.seedOf('A'.repeat(22))).not.toBeNull()
})
