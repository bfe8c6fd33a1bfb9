// Lists of signing keys, with endorsements and revocations, as verifiers pin and follow them.

import type { Json } from '@svc/protocol/canonical'
import { followedKeys, readPinnedKeys } from '@svc/verifier/pinned-keys'
import { CASES, packBytes } from '@svc/verifier/test/pack'
import { json, must, type Parser, text } from '../engine/parser.ts'

export async function open(): Promise<Parser> {
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
  return {
    seeds,
    words: [
      'keys',
      'endorsements',
      'revocations',
      'recovery',
      'body',
      'signature',
      'valid_from',
      'valid_to',
      'use',
      'ed25519:',
      ',',
      '\n',
      'public_key_hex',
    ],
    isJson: true,
    maxBytes: 65_536,
    check(input) {
      const read = readPinnedKeys(text(input))
      if (read.ok) {
        must(
          read.keys.every(({ publicKeyHex }) => /^[0-9a-f]{64}$/.test(publicKeyHex)),
          'pins what is no key',
        )
        const { changes, recovery, keys } = read
        followedKeys({ pinnedKeys: keys, listed: { changes, recovery } }, null)
      }
      const list = json(input) as Json | undefined
      if (list === undefined) return
      for (const key of followedFrom(list))
        must(
          genuine.has(key) || pinnedKeys.some((pin) => pin.publicKeyHex === key),
          'follows a key that nobody endorsed',
        )
    },
  }
}
