import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { type PayableLeg, payLeg } from '@svc/devnet/pay-leg'
import { requestsPerCpuSecond, warmUp } from './load.ts'
import { median, type Row } from './row.ts'
import { scaled } from './scale.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const ROUNDS = scaled(5, 1)
const TREASURY = 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe'
const PAYMENTS = scaled(200, 40)
const AT_ONCE = 20
const BARE = { path: '/v1/short-url/verify-key' }
const QUOTE = { path: '/v1/storage/request', body: '{"units":1,"pay_asset":"USDC"}', status: 402 }
const ALL_LEGS = { path: '/v1/storage/request', body: '{"units":1}', status: 402 }

/** Each quote is stored durably before it is answered; each confirmation reads the chain and writes a signed receipt. */
export async function purchaseRows(): Promise<Row[]> {
  const chains = await startLocalChains({ finalAtOnce: true })
  for (const asset of ['SOL', 'USDC', 'USDT', 'WETH', 'BETA']) await faucet(chains, TREASURY, asset)
  const treasuries = { PRIMARY_TREASURY: TREASURY, EVM_TREASURY: `0x${'ab'.repeat(20)}` }
  const server = await startServer('gateway', { ...chains.variables, ...treasuries, LOG_LEVEL: 'warn' })
  const confirmations = await payQuotes(chains, server)
  const first = await confirmPerCpuSecond(server, confirmations)
  const repeated = { path: '/v1/storage/confirm', body: JSON.stringify(confirmations[0]) }
  const rates = { bare: [] as number[], quote: [] as number[], allLegs: [] as number[], repeated: [] as number[] }
  for (const route of [BARE, QUOTE, ALL_LEGS, repeated]) await warmUp(server, route)
  for (let i = 0; i < ROUNDS; i++) {
    rates.bare.push(await requestsPerCpuSecond(server, BARE))
    rates.quote.push(await requestsPerCpuSecond(server, QUOTE))
    rates.allLegs.push(await requestsPerCpuSecond(server, ALL_LEGS))
    rates.repeated.push(await requestsPerCpuSecond(server, repeated))
  }
  await server.stop()
  await chains.stop()
  const bare = median(rates.bare)
  const row = (what: string, rate: number, atLeast: number): Row => ({
    what,
    measured: `${rate.toFixed(0)} per CPU second`,
    against: `bare JSON route: ${bare.toFixed(0)}`,
    ratio: rate / bare,
    goal: { atLeast },
  })
  return [
    row('quote with two legs', median(rates.quote), 0.4),
    row('quote with all nine legs', median(rates.allLegs), 0.2),
    row('confirmation, first', first, 0.01),
    row('confirmation, repeated', median(rates.repeated), 0.3),
  ]
}

/** Production refuses the development treasury; this one gets its token accounts from the faucet. */
async function faucet({ primary }: LocalChains, wallet: string, asset: string): Promise<void> {
  await post(primary.url, { jsonrpc: '2.0', id: 1, method: 'dev_faucet', params: [wallet, asset, '1'] })
}

interface ConfirmBody {
  pay_req_id: string
  tx_sig: string
}

async function payQuotes(chains: LocalChains, { url }: ServerProcess): Promise<ConfirmBody[]> {
  const paid: ConfirmBody[] = []
  for (let i = 0; i < PAYMENTS; i++) {
    const response = await post(`${url}/v1/storage/request`, {
      units: 1,
      pay_network: 'primary-mainnet',
      pay_asset: 'USDC',
    })
    const [leg] = ((await response.json()) as { accepts: PayableLeg[] }).accepts
    if (!leg) throw new Error('a quote without legs')
    paid.push({ pay_req_id: leg.extra.pay_req_id, tx_sig: await payLeg(chains, leg) })
  }
  return paid
}

async function confirmPerCpuSecond(server: ServerProcess, confirmations: readonly ConfirmBody[]): Promise<number> {
  const waiting = [...confirmations]
  const confirmAll = async () => {
    for (let body = waiting.pop(); body; body = waiting.pop()) {
      const response = await post(`${server.url}/v1/storage/confirm`, body)
      if (response.status !== 200) throw new Error(await response.text())
      await response.text()
    }
  }
  const before = await server.cpuSeconds()
  await Promise.all(Array.from({ length: AT_ONCE }, confirmAll))
  return confirmations.length / ((await server.cpuSeconds()) - before)
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}
