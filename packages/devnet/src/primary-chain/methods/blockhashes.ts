import { getBase64Encoder } from '@solana/kit'
import { lastValidBlockHeight } from '../blockhashes.ts'
import { addressAt, configAt, textAt, viewFor } from '../params.ts'
import { invalidParams } from '../rpc-error.ts'
import { feeOf } from '../transaction-fee.ts'
import { decodeMessage } from '../wire-transaction.ts'
import { inContext, type Methods } from './method.ts'

export const blockhashMethods: Methods = {
  getLatestBlockhash(chain, params) {
    const view = viewFor(chain, configAt(params, 0))
    const issued = chain.latestBlockhash(view)
    return inContext(view, { blockhash: issued.blockhash, lastValidBlockHeight: lastValidBlockHeight(issued) })
  },

  isBlockhashValid(chain, params) {
    const blockhash = addressAt(params, 0) // the same 32 bytes in base58
    const view = viewFor(chain, configAt(params, 1))
    return inContext(view, chain.isBlockhashValid(blockhash, view))
  },

  getFeeForMessage(chain, params) {
    const message = readMessage(textAt(params, 0))
    const view = viewFor(chain, configAt(params, 1))
    return inContext(view, chain.isBlockhashValid(message.lifetimeToken, view) ? feeOf(message) : null)
  },
}

function readMessage(base64: string) {
  try {
    return decodeMessage(getBase64Encoder().encode(base64))
  } catch (cause) {
    throw invalidParams(`Invalid params: not a transaction message in base64 (${String(cause)})`)
  }
}
