// The registry's three kinds of account, byte for byte.

import {
  addCodecSizePrefix,
  type Codec,
  getAddressCodec,
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
import { ProgramFailure } from './failure.ts'
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
    /** The account must be the registry's own, which nobody else can have written. */
    decode({ data, address }: ProgramAccount): To {
      if (data[0] !== KINDS[kind]) throw new ProgramFailure('InvalidAccountData', `${address} is not a ${kind}`)
      return codec.decode(data)
    },
  }
}
