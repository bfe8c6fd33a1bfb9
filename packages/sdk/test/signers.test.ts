import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { lockerRecord } from '@svc/api/lockers'
import { fromBase58, toBase58 } from '@svc/protocol/bytes'
import { createWalletClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import {
  type Signer,
  signerFromEvmKey,
  signerFromSeed,
  signerFromSolanaKeypair,
  signerFromViem,
  signerFromWalletStandard,
} from '../src/signers.ts'
import { useTestbed } from './lockers.ts'

const testbed = useTestbed()

const seed = randomBytes(32)
const privateKey = `0x${randomBytes(32).toString('hex')}` as const
const account = privateKeyToAccount(privateKey)

/** A browser wallet with the interface of EIP-1193, which does not reveal its key. */
const evmProvider = {
  async request({ method, params }: { method: string; params?: unknown }) {
    if (method !== 'personal_sign') throw new Error(`asked for ${method}`)
    const [raw, from] = params as [`0x${string}`, string]
    expect(from.toLowerCase()).toBe(account.address.toLowerCase())
    return account.signMessage({ message: { raw } })
  },
}

function walletStandard(): Signer {
  const { publicKey, privateKey: key } = generateKeyPairSync('ed25519')
  const address = toBase58(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))
  return signerFromWalletStandard(
    { address },
    { signMessage: async (...requests) => requests.map(({ message }) => ({ signature: sign(null, message, key) })) },
  )
}

const signers: [string, () => Signer][] = [
  ['an Ed25519 seed', () => signerFromSeed(seed)],
  [
    'the keypair file of Solana tools',
    () => signerFromSolanaKeypair([...seed, ...(fromBase58(signerFromSeed(seed).address, 32) ?? [])]),
  ],
  ['a wallet of the wallet standard', walletStandard],
  ['a private key', () => signerFromEvmKey(privateKey)],
  ['a private key without 0x', () => signerFromEvmKey(privateKey.slice(2).toUpperCase())],
  ['the bytes of a private key', () => signerFromEvmKey(Buffer.from(privateKey.slice(2), 'hex'))],
  ['a viem account', () => signerFromViem(account)],
  [
    'a viem wallet client over a browser wallet',
    () => signerFromViem(createWalletClient({ account: account.address, transport: custom(evmProvider) })),
  ],
]

describe.each(signers)('a signer from %s', (_, make) => {
  it('ENV-02 ENV-11 signs requests that the gateway accepts', async () => {
    const signer = make()
    const { locker_id } = await testbed.locker(signer)
    const { body } = await testbed.client({ signer }).call(lockerRecord, { params: { locker_id } })
    expect(body.owner).toBe(signer.address)
  })
})

it.each([
  ['31 bytes', () => signerFromSeed(randomBytes(31))],
  ['a keypair whose halves do not match', () => signerFromSolanaKeypair(randomBytes(64))],
  ['33 bytes of hex', () => signerFromEvmKey(`${privateKey}00`)],
  ['text that is not hex', () => signerFromEvmKey('correct horse battery staple')],
  ['an EVM account', () => signerFromWalletStandard(account, { signMessage: async () => [] })],
  ['a wallet client without an account', () => signerFromViem({ signMessage: account.signMessage })],
])('a signer cannot be made from %s', (_, make) => {
  expect(make).toThrow()
})
