import { encodeAbiParameters, type Hex, padHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { arrivalOf } from '../../src/evm/arrival.ts'
import { AUTHORIZATION_USED, authorizationId } from '../../src/evm/authorizations.ts'
import type { Log, Receipt, Transaction } from '../../src/evm/rpc-answers.ts'

const address = (byte: string): Hex => `0x${byte.repeat(20)}`
const [TOKEN, OTHER_TOKEN, TREASURY, ANN, BOB] = ['11', '22', '33', 'aa', 'bb'].map(address) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
]
const nonce = (byte: string): Hex => `0x${byte.repeat(32)}`
const topic = (of: Hex) => padHex(of, { size: 32 })
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

function used(from: Hex, of: Hex, token = TOKEN): Log {
  return { address: token, topics: [AUTHORIZATION_USED, topic(from), of], data: '0x', removed: false }
}

function transfer(from: Hex, to: Hex, value: bigint, token = TOKEN): Log {
  const data = encodeAbiParameters([{ type: 'uint256' }], [value])
  return { address: token, topics: [TRANSFER, topic(from), topic(to)], data, removed: false }
}

function arrival(logs: Log[], authorization?: string) {
  const receipt: Receipt = { blockNumber: 1n, blockHash: nonce('00'), failed: false, logs }
  const transaction: Transaction = { from: BOB, to: TOKEN, value: 0n, input: '0x' }
  const destination = { asset: TOKEN, payTo: TREASURY, ...(authorization !== undefined && { authorization }) }
  return arrivalOf(receipt, transaction, destination)
}

const ann = authorizationId({ from: ANN, nonce: nonce('01') })

describe('the payment of an authorization', () => {
  it('T-46 counts only its own transfer, whatever else the transaction moved', () => {
    const logs = [
      transfer(BOB, TREASURY, 1n),
      used(ANN, nonce('01')),
      transfer(ANN, TREASURY, 7n, OTHER_TOKEN),
      transfer(ANN, TREASURY, 5n),
      used(ANN, nonce('02')),
      transfer(ANN, TREASURY, 6n),
      used(BOB, nonce('01')),
      transfer(BOB, TREASURY, 9n),
    ]
    expect(arrival(logs, ann)).toEqual({ received: 5n, sources: [ANN], authorizations: [ann] })
    const ids = [
      ann,
      authorizationId({ from: ANN, nonce: nonce('02') }),
      authorizationId({ from: BOB, nonce: nonce('01') }),
    ]
    expect(arrival(logs)).toEqual({ received: 21n, sources: [BOB, ANN], authorizations: ids })
  })

  it.each<[string, Log[]]>([
    ['it was not used', [transfer(ANN, TREASURY, 5n)]],
    ['another token reports it', [used(ANN, nonce('01'), OTHER_TOKEN), transfer(ANN, TREASURY, 5n)]],
    ['another nonce was used', [used(ANN, nonce('02')), transfer(ANN, TREASURY, 5n)]],
    ['its transfer went elsewhere', [used(ANN, nonce('01')), transfer(ANN, BOB, 5n), transfer(ANN, TREASURY, 5n)]],
    ['the next transfer has another sender', [used(ANN, nonce('01')), transfer(BOB, TREASURY, 5n)]],
    ['it moved nothing', [used(ANN, nonce('01')), transfer(ANN, TREASURY, 0n)]],
    ['nothing follows', [transfer(ANN, TREASURY, 5n), used(ANN, nonce('01'))]],
    ['the chain reverted it', [{ ...used(ANN, nonce('01')), removed: true }, transfer(ANN, TREASURY, 5n)]],
  ])('T-46 is empty when %s', (_, logs) => {
    expect(arrival(logs, ann)).toEqual({ received: 0n, sources: [], authorizations: [] })
  })
})
