import { PRIMARY } from '@svc/api/networks'
import { TREASURY, tokenAccountOf } from '@svc/devnet/primary-chain/dev-accounts'
import { startPrimaryChain } from '@svc/devnet/primary-chain/start'
import { describe, expect, it } from 'vitest'
import { watchTokenAccounts } from '../../src/solana/token-accounts.ts'

const MISSING = 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe'

describe("the treasury's token accounts", () => {
  it('PAY-19 are the existing ones, by one node that answers, or by the last answer while none does', async () => {
    const chain = await startPrimaryChain({ port: 0 })
    const account = await tokenAccountOf(TREASURY.address, 'USDC')
    let time = 0
    const options = { accounts: [account, MISSING], now: () => time }
    const watch = watchTokenAccounts({ ...options, network: PRIMARY, rpcUrls: ['http://127.0.0.1:1', chain.url] })
    const answers = await Promise.all(Array.from({ length: 5 }, () => watch.existing()))
    for (const answer of answers) expect([...answer]).toEqual([account])
    await chain.stop()
    time = 60_000
    expect([...(await watch.existing())]).toEqual([account])
  })

  it('PAY-19 are empty while no node has answered', async () => {
    const watch = watchTokenAccounts({
      network: PRIMARY,
      rpcUrls: ['http://127.0.0.1:1'],
      accounts: [MISSING],
      now: Date.now,
    })
    expect((await watch.existing()).size).toBe(0)
  })
})
