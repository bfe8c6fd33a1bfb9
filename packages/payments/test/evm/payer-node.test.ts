import { EVM } from '@svc/api/networks'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { expect, it } from 'vitest'
import { createEvmPayerNode } from '../../src/evm/payer-node.ts'
import { startPayments, TREASURY } from './payments.ts'

interface BatchAnswer {
  result: { transactionHash?: string; status?: string } | null
}

it('T-45 a receipt of another transaction does not make a payment fail, so that the payer does not pay again', async () => {
  const { url, people, stop } = await startPayments()
  const { payer } = people
  const proxy = await startFaultyProxy(url)
  try {
    const tx = await payer.sendTransaction({ to: TREASURY, value: 5n })
    const asked = { tx, payer: payer.account.address, life: { nonce: '0', block: '0' } }
    const node = createEvmPayerNode(EVM, [proxy.url])
    expect(await node.outcome(asked)).toBe('landed')
    const ofAnother = { transactionHash: `0x${'ab'.repeat(32)}`, status: '0x0', blockNumber: '0x0' }
    proxy.always(/eth_getTransactionReceipt/, {
      lie: (answers: BatchAnswer[]) =>
        answers.map((answer) =>
          answer.result?.transactionHash ? { ...answer, result: { ...answer.result, ...ofAnother } } : answer,
        ),
    })
    await expect(node.outcome(asked)).rejects.toMatchObject({ name: 'ChainUnavailable' })
    proxy.behave()
    expect(await node.outcome(asked)).toBe('landed')
  } finally {
    await proxy.stop()
    await stop()
  }
})
