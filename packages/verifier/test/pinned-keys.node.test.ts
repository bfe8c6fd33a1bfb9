// Lists of signing keys with endorsements and revocations, which verifiers pin and follow.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { json, must, text } from '@svc/devnet/properties/rules'
import { toHex } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { issuerKeyId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { expect, it } from 'vitest'
import { followedKeys, readPinnedKeys } from '../src/pinned-keys.ts'
import { CASES, packBytes } from './pack.ts'

it('T-129 T-52 no made-up input breaks the rules of lists of keys', async () => {
  const lists = CASES.flatMap(({ given: { pinned_keys: keys } }) =>
    keys && !Array.isArray(keys) ? [JSON.stringify(keys)] : [],
  )
  const bundles = CASES.filter(({ name }) => /^keys-(?:endorsed|recovered|revoked-after-log)$/.test(name))
  const inBundles = await Promise.all(
    bundles.map(async ({ file }) => JSON.stringify(JSON.parse(text(await packBytes(file))).signing_keys)),
  )
  const pins = CASES.flatMap(({ given: { pinned_keys: keys } }) => (Array.isArray(keys) ? [keys.join(' ')] : []))
  const seeds = [...new Set([...lists, ...inBundles, ...pins])].slice(0, 20)
  const pinned = readPinnedKeys([...new Set(pins)].join(' '))
  const pinnedKeys = pinned.ok ? pinned.keys : []
  const followedFrom = (list: Json) => followedKeys({ pinnedKeys }, list).keys.map(({ publicKeyHex }) => publicKeyHex)
  const genuine = new Set([...inBundles, ...lists].flatMap((list) => followedFrom(JSON.parse(list))))
  // Replaces a key everywhere, which no change in a single place can do.
  const unknownKey = toHex(ed25519Signer(new Uint8Array(32).fill(99)).publicKey)
  const forged = inBundles.flatMap((list) => [...genuine].map((key) => inPlaceOf(key, unknownKey, list)))
  expect(
    await problemWith({
      examples: [...seeds, ...new Set(forged)],
      words:
        'keys endorsements revocations recovery body signature valid_from valid_to use ed25519: , \n public_key_hex'.split(
          ' ',
        ),
      isJson: true,
      maxBytes: 65_536,
      rule(input) {
        const read = readPinnedKeys(text(input))
        if (read.ok) {
          must(
            read.keys.every(({ publicKeyHex }) => /^[0-9a-f]{64}$/.test(publicKeyHex)),
            'pins text that is not a key',
          )
          const { changes, recovery, keys } = read
          followedKeys({ pinnedKeys: keys, listed: { changes, recovery } }, null)
        }
        const list = json(input) as Json | undefined
        if (list === undefined) return
        for (const key of followedFrom(list))
          must(
            genuine.has(key) || pinnedKeys.some((pin) => pin.publicKeyHex === key),
            'follows a key that is not endorsed',
          )
      },
    }),
  ).toBeNull()
})

function inPlaceOf(key: string, other: string, list: string): string {
  return list.replaceAll(key, other).replaceAll(issuerKeyId(key), issuerKeyId(other))
}
