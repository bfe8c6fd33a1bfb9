// The registry's three kinds of account: their bytes and their addresses.

import { hash } from 'node:crypto'
import {
  type Address,
  addCodecSizePrefix,
  address,
  type Codec,
  getAddressCodec,
  getAddressDecoder,
  getAddressEncoder,
  getArrayCodec,
  getBooleanCodec,
  getBytesCodec,
  getConstantCodec,
  getHiddenPrefixCodec,
  getI64Codec,
  getStructCodec,
  getU8Codec,
  getU32Codec,
} from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { isOnCurve } from '@svc/protocol/keys'
import { REGISTRY_PROGRAM } from '@svc/protocol/registry'
import { ProgramFailure } from './failure.ts'
import type { Code } from './program/assembler.ts'
import { createAccount, writeData } from './program/effects.ts'
import type { ProgramAccount } from './program/memory.ts'

/** Only tokenised attestations have one; the others hold 32 zero bytes. */
export const NO_TOKEN_ACCOUNT = SYSTEM_PROGRAM_ADDRESS

export const sizedBytes = () => addCodecSizePrefix(getBytesCodec(), getU32Codec())

const KINDS = { credential: 0, schema: 1, attestation: 2 } as const

const credentialCodec = getStructCodec([
  ['authority', getAddressCodec()],
  ['name', sizedBytes()],
  ['authorizedSigners', getArrayCodec(getAddressCodec())],
])

const schemaCodec = getStructCodec([
  ['credential', getAddressCodec()],
  ['name', sizedBytes()],
  ['description', sizedBytes()],
  ['layout', sizedBytes()],
  ['fieldNames', sizedBytes()],
  ['isPaused', getBooleanCodec()],
  ['version', getU8Codec()],
])

const attestationCodec = getStructCodec([
  ['nonce', getAddressCodec()],
  ['credential', getAddressCodec()],
  ['schema', getAddressCodec()],
  ['data', sizedBytes()],
  ['signer', getAddressCodec()],
  ['expiry', getI64Codec()],
  ['tokenAccount', getAddressCodec()],
])

export const credentials = accountsOf('credential', credentialCodec)
export const schemas = accountsOf('schema', schemaCodec)
export const attestations = accountsOf('attestation', attestationCodec)

function accountsOf<From, To extends From>(kind: keyof typeof KINDS, fields: Codec<From, To>) {
  const codec = getHiddenPrefixCodec(fields, [getConstantCodec(Uint8Array.of(KINDS[kind]))])
  return {
    encode: (value: From) => Uint8Array.from(codec.encode(value)),
    /** The account must be owned by the registry: no other program can have written it. */
    decode({ data, address }: ProgramAccount): To {
      if (data[0] !== KINDS[kind]) throw new ProgramFailure('InvalidAccountData', `${address} is not a ${kind}`)
      return codec.decode(data)
    },
  }
}

export const REGISTRY = address(REGISTRY_PROGRAM)

const MAX_SEED_BYTES = 32

interface DerivedAddress {
  readonly address: Address
  /** What the program signs with; the bump is last. */
  readonly seeds: readonly Uint8Array[]
}

/** kit derives addresses asynchronously, but a transaction runs synchronously. */
export function deriveAddress(prefix: string, ...rest: readonly Uint8Array[]): DerivedAddress {
  const seeds = [Buffer.from(prefix), ...rest]
  if (seeds.some((seed) => seed.length > MAX_SEED_BYTES))
    throw new ProgramFailure('Panic', 'a seed of an address is longer than 32 bytes')
  for (let bump = 255; bump >= 0; bump--) {
    const withBump = [...seeds, Uint8Array.of(bump)]
    const preimage = Buffer.concat([...withBump, addressBytes(REGISTRY), Buffer.from('ProgramDerivedAddress')])
    const candidate = hash('sha256', preimage, 'buffer')
    if (!isOnCurve(candidate)) return { address: getAddressDecoder().decode(candidate), seeds: withBump }
  }
  throw new ProgramFailure('Panic', 'no address can be derived from these seeds')
}

export function addressBytes(of: Address): Uint8Array {
  return Uint8Array.from(getAddressEncoder().encode(of))
}

/** A new account of the registry that holds `data`; its rent comes from `payer`. */
export function makeAccount(
  payer: ProgramAccount,
  account: ProgramAccount,
  { seeds }: DerivedAddress,
  data: Uint8Array,
  rentFor: (space: number) => bigint,
): Code {
  const space = data.length
  return [
    ...createAccount({ payer, account, owner: REGISTRY, seeds, space, rent: rentFor(space) }),
    ...writeData(account, data),
  ]
}
