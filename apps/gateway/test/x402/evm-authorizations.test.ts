import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { honestly, withBody } from '@svc/devnet/faulty-node'
import { type Address, type Hex, parseAbi, parseSignature } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { expectError } from '../purchases/market.ts'
import { expectPending, type FaultyTestbed, SEND, startFaultyTestbed, TAKEN } from './faulty-testbed.ts'
import { encoded, PRICE, pay, treasuryUsdc } from './x402-testbed.ts'

let testbed: FaultyTestbed
beforeAll(async () => {
  testbed = await startFaultyTestbed()
})
afterEach(() => testbed.calm())
afterAll(() => testbed.stop())

describe('an authorization of the EVM chain', () => {
  const token = TOKENS.USDC.address
  const abi = parseAbi([
    'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  ])
  interface Signed {
    signature: Hex
    authorization: Record<'value' | 'validAfter' | 'validBefore', string> & { from: Address; to: Address; nonce: Hex }
  }
  const stranger = () => connectAs(DEV_PAYERS[3]!, testbed.chains.evm.url)
  const signature = (text: Hex) => {
    const { r, s, yParity } = parseSignature(text)
    return [27 + yParity, r, s] as const
  }

  /** Does some work just before the payment is sent. */
  function beforeSending(work: () => Promise<unknown>) {
    let first = true
    testbed.nodes.evm.behave(async (asked) => {
      if (asked.method === SEND.evm && first) {
        first = false
        await work()
      }
      return honestly(asked)
    })
  }

  it('an authorization that a stranger uses first still pays the quote', async () => {
    const before = await treasuryUsdc('evm', testbed.chains)
    const { text, payload } = await testbed.sign('evm')
    const signed = payload.payload as unknown as Signed
    const { from, to, value, validAfter, validBefore, nonce } = signed.authorization
    let theirs: Hex | undefined
    beforeSending(async () => {
      const amounts = [BigInt(value), BigInt(validAfter), BigInt(validBefore)] as const
      const args = [from, to, ...amounts, nonce, ...signature(signed.signature)] as const
      theirs = await stranger().writeContract({ address: token, abi, functionName: 'transferWithAuthorization', args })
    })
    const { status, body } = await pay(testbed.gateway.url, text)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.receipt).toMatchObject({ tx_hash: theirs, payer_pubkey: from.toLowerCase() })
    expect(await testbed.paidSince('evm', before)).toBe(PRICE)
  })

  it('an authorization that its payer cancels in between pays nothing, and another pays the same quote', async () => {
    const before = await treasuryUsdc('evm', testbed.chains)
    const { text, payload } = await testbed.sign('evm')
    const { from, nonce } = (payload.payload as unknown as Signed).authorization
    const domain = { name: 'USDC', version: '2', chainId: 143, verifyingContract: token }
    const types = { CancelAuthorization: ['authorizer:address', 'nonce:bytes32'].map(field) }
    const message = { authorizer: from, nonce }
    const account = privateKeyToAccount(DEV_PAYERS[1]!.privateKey)
    const cancel = await account.signTypedData({ domain, types, primaryType: 'CancelAuthorization', message })
    beforeSending(() =>
      stranger().writeContract({
        address: token,
        abi,
        functionName: 'cancelAuthorization',
        args: [from, nonce, ...signature(cancel)],
      }),
    )
    expectError(await pay(testbed.gateway.url, text), 402, 'payment_verification_failed', 'transaction_failed')
    expect((await pay(testbed.gateway.url, await testbed.signAgain('evm', payload))).status).toBe(200)
    expect(await testbed.paidSince('evm', before)).toBe(PRICE)
  })

  it('an authorization is sent again when another process with our key took the nonce of the transaction', async () => {
    const before = await treasuryUsdc('evm', testbed.chains)
    const { text } = await testbed.sign('evm')
    beforeSending(takeNonce)
    expect((await pay(testbed.gateway.url, text)).status).toBe(200)
    expect(await testbed.paidSince('evm', before)).toBe(PRICE)
  })

  it('an authorization is sent again when the transaction was lost and its nonce taken since', async () => {
    const before = await treasuryUsdc('evm', testbed.chains)
    const { text } = await testbed.sign('evm')
    testbed.nodes.evm.behave(withBody(SEND.evm, TAKEN.evm))
    expectPending(await pay(testbed.gateway.url, text))
    testbed.calm()
    await takeNonce()
    expect((await pay(testbed.gateway.url, text)).status).toBe(200)
    expect(await testbed.paidSince('evm', before)).toBe(PRICE)
  })

  it('an authorization pays one quote only, even when it is sent for two at once', async () => {
    const before = await treasuryUsdc('evm', testbed.chains)
    const [first, second] = await Promise.all([testbed.sign('evm'), testbed.sign('evm')])
    const moved = encoded({ ...first.payload, accepted: second.payload.accepted })
    const replies = await Promise.all([pay(testbed.gateway.url, first.text), pay(testbed.gateway.url, moved)])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 402])
    expect(await testbed.paidSince('evm', before)).toBe(PRICE)
  })

  function takeNonce() {
    const facilitator = connectAs(DEV_PAYERS.at(-1)!, testbed.chains.evm.url)
    return facilitator.sendTransaction({ to: DEV_PAYERS[3]!.address, value: 1n })
  }
})

function field(text: string) {
  const [name, type] = text.split(':') as [string, string]
  return { name, type }
}
