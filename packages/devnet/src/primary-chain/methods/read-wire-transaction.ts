import { getBase58Encoder, getBase64Encoder } from '@solana/kit'
import { type Config, oneOf } from '../params.ts'
import { invalidParams } from '../rpc-error.ts'
import { decodeWireTransaction, type WireTransaction } from '../wire-transaction.ts'

const MAX_TRANSACTION_BYTES = 1232

/** The transaction a client sends, in the encoding it says; base58 unless told, as ever. */
export function readWireTransaction(text: string, config: Config): WireTransaction {
  const encoding = oneOf(config.encoding, ['base58', 'base64'], 'base58')
  const bytes = decodeText(text, encoding)
  if (bytes.length > MAX_TRANSACTION_BYTES)
    throw invalidParams(
      `${encoding} encoded transaction too large: ${bytes.length} bytes (max: ${MAX_TRANSACTION_BYTES} bytes)`,
    )
  try {
    return decodeWireTransaction(bytes)
  } catch (cause) {
    throw invalidParams(`failed to deserialize the transaction: ${String(cause)}`)
  }
}

// The longest text that 1,232 bytes can take; decoding base58 costs the square of its length.
const MAX_TEXT = { base58: 1683, base64: 1644 }

function decodeText(text: string, encoding: 'base58' | 'base64'): Uint8Array {
  if (text.length > MAX_TEXT[encoding])
    throw invalidParams(
      `${encoding} encoded transaction too large: ${text.length} characters (max: ${MAX_TEXT[encoding]})`,
    )
  try {
    return new Uint8Array((encoding === 'base58' ? getBase58Encoder() : getBase64Encoder()).encode(text))
  } catch {
    throw invalidParams(`invalid ${encoding} encoding`)
  }
}
