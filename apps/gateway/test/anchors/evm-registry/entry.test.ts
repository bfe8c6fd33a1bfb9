import { MERKLE_REGISTRY_ABI as abi } from '@svc/contracts/merkle-registry'
import { decodeFunctionData, keccak256, stringToBytes } from 'viem'
import { expect, it } from 'vitest'
import { decodeEntry, encodeEntry, registryKey } from '../../../src/anchors/evm-registry/entry.ts'

it.each([
  // Computed with another implementation of keccak-256.
  ['rcpt_test_0001', '0xb43c1a28c15b28e9041c5976f2f92a74'],
  ['rcpt_ünïcödé', keccak256(stringToBytes('rcpt_ünïcödé')).slice(0, 34)],
])('ANCH-12 the key of %s is the beginning of its keccak-256', (receiptId, key) => {
  expect(registryKey(receiptId)).toBe(key)
})

it('AMB-65 roots are written without their prefix', () => {
  const entry = { slot: 1, file_count: 2, attested_at: 3 }
  const root = 'ab'.repeat(32)
  const [withPrefix, bare] = [`sha256:${root}`, root].map((merkle_root) =>
    encodeEntry('rcpt_test_0001', { merkle_root, ...entry }),
  )
  expect(withPrefix).toBe(bare)
  expect(decodeFunctionData({ abi, data: withPrefix! })).toEqual({
    functionName: 'anchorMerkle',
    args: ['0xb43c1a28c15b28e9041c5976f2f92a74', `0x${root}`, 1n, 2, 3n],
  })
})

it('AMB-65 zeros are no entry', () => {
  expect(decodeEntry([`0x${'00'.repeat(32)}`, 0n, 0, 0n])).toBeNull()
})
