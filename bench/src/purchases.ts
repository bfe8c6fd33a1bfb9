import { ASSETS } from '@svc/api/assets'
import { PRIMARY } from '@svc/api/networks'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { type PayableLeg, payLeg } from '@svc/devnet/pay-leg'
import { type Route, requestsPerCpuSecond, warmUp } from './requests-per-cpu-second.ts'
import { median, type Row } from './row.ts'
import { scaled } from './scale.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import type { Sample } from './servers/bare-answers.ts'

const ROUNDS = scaled(2, 1)
const TREASURY = 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe'
/** The first payments warm the gateway up: its rate rises until about the four hundredth. */
const PAYMENTS = scaled(1200, 60)
const WARM_UP = scaled(400, 20)
const FIRST_PER_CPU_SECOND = 400
const AT_ONCE = 20
const QUOTE = { path: '/v1/storage/request', body: '{"units":1,"pay_asset":"USDC"}', status: 402 }
const ALL_LEGS = { path: '/v1/storage/request', body: '{"units":1}', status: 402 }

interface Compared {
  what: string
  route: Route & { body: string }
  atLeast: number
}

/**
 * Each quote is stored durably before it is answered; each confirmation reads the chain and writes a signed receipt. The
 * floor is a bare server that reads the same body and answers the same bytes, ready-made. The nodes of the chains run in
 * this process, not in the gateway's, so that their time is not counted.
 */
export async function purchaseRows(): Promise<Row[]> {
  const chains = await startLocalChains({ landing: 'at once' })
  for (const { ticker } of ASSETS.filter(({ network }) => network === PRIMARY)) await faucet(chains, TREASURY, ticker)
  const treasuries = { PRIMARY_TREASURY: TREASURY, EVM_TREASURY: `0x${'ab'.repeat(20)}` }
  const server = await startServer('gateway', { ...chains.variables, ...treasuries, LOG_LEVEL: 'warn' })
  const confirmations = await payQuotes(chains, server, 'primary-mainnet')
  const first = await confirmPerCpuSecond(server, confirmations)
  const firstOnEvm = await confirmPerCpuSecond(server, await payQuotes(chains, server, 'evm-mainnet'))
  const repeated = { path: '/v1/storage/confirm', body: JSON.stringify(confirmations[0]) }
  const [twoLegs, allLegs, again] = await compare(server, [
    { what: 'quote with two legs', route: QUOTE, atLeast: 0.4 },
    { what: 'quote with all nine legs', route: ALL_LEGS, atLeast: 0.3 },
    { what: 'confirmation, repeated', route: repeated, atLeast: 0.3 },
  ])
  await server.stop()
  await chains.stop()
  return [
    twoLegs as Row,
    allLegs as Row,
    firstRow('primary', first),
    firstRow('EVM', firstOnEvm),
    again as Row, // there is a row for each request
  ]
}

/** Alternates between the servers, so that a slow moment affects both. */
async function compare(server: ServerProcess, compared: readonly Compared[]): Promise<Row[]> {
  const samples = await Promise.all(compared.map(({ route }) => sample(server, route)))
  const bare = await startServer('bare-answers', { SAMPLES: JSON.stringify(samples) })
  const pairs = compared.map(({ route }, i) => ({
    ours: { server, route, rates: [] as number[] },
    floor: { server: bare, route: { ...route, path: `/${i}` }, rates: [] as number[] },
  }))
  const sides = pairs.flatMap(({ ours, floor }) => [ours, floor])
  for (const { server, route } of sides) await warmUp(server, route)
  for (let i = 0; i < ROUNDS; i++) {
    for (const { server, route, rates } of sides) rates.push(await requestsPerCpuSecond(server, route))
  }
  await bare.stop()
  return compared.map(({ what, route, atLeast }, i) => {
    const { ours, floor } = pairs[i] as (typeof pairs)[number]
    const [rate, bareRate] = [median(ours.rates), median(floor.rates)]
    return {
      what,
      measured: `${rate.toFixed(0)} per CPU second`,
      against: `bare server, ${route.body.length} bytes in, ${bytesOut(samples[i] as Sample)} out: ${bareRate.toFixed(0)}`,
      ratio: rate / bareRate,
      goal: { atLeast },
    }
  })
}

function firstRow(chain: string, rate: number): Row {
  return {
    what: `confirmation, first, of a payment on the ${chain} chain`,
    measured: `${rate.toFixed(0)} per CPU second`,
    against: `${FIRST_PER_CPU_SECOND} per CPU second`,
    ratio: rate / FIRST_PER_CPU_SECOND,
    goal: { atLeast: 1 },
  }
}

/** Headers that a server adds automatically. */
const OF_SERVER = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

async function sample({ url }: ServerProcess, { path, body, status = 200 }: Compared['route']): Promise<Sample> {
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity' }
  const response = await fetch(url + path, { method: 'POST', headers, body })
  const text = await response.text()
  if (response.status !== status) throw new Error(text)
  const kept = [...response.headers].filter(([name]) => !OF_SERVER.includes(name))
  return { status, headers: Object.fromEntries(kept), body: text }
}

function bytesOut({ headers, body }: Sample): number {
  const head = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
  return head + Buffer.byteLength(body)
}

/** Production refuses the development treasury; this one gets its token accounts from the faucet. */
async function faucet({ primary }: LocalChains, wallet: string, asset: string): Promise<void> {
  await post(primary.url, { jsonrpc: '2.0', id: 1, method: 'dev_faucet', params: [wallet, asset, '1'] })
}

interface ConfirmBody {
  pay_req_id: string
  tx_sig: string
}

async function payQuotes(chains: LocalChains, { url }: ServerProcess, network: string): Promise<ConfirmBody[]> {
  const paid: ConfirmBody[] = []
  for (let i = 0; i < PAYMENTS; i++) {
    const response = await post(`${url}/v1/storage/request`, { units: 1, pay_network: network, pay_asset: 'USDC' })
    const [leg] = ((await response.json()) as { accepts: PayableLeg[] }).accepts
    if (!leg) throw new Error('a quote without legs')
    paid.push({ pay_req_id: leg.extra.pay_req_id, tx_sig: await payLeg(chains, leg) })
  }
  return paid
}

async function confirmPerCpuSecond(server: ServerProcess, confirmations: readonly ConfirmBody[]): Promise<number> {
  await confirmAll(server, confirmations.slice(0, WARM_UP))
  const before = await server.cpuSeconds()
  await confirmAll(server, confirmations.slice(WARM_UP))
  return (PAYMENTS - WARM_UP) / ((await server.cpuSeconds()) - before)
}

async function confirmAll({ url }: ServerProcess, confirmations: readonly ConfirmBody[]): Promise<void> {
  const waiting = [...confirmations]
  const confirmNext = async () => {
    for (let body = waiting.pop(); body; body = waiting.pop()) {
      const response = await post(`${url}/v1/storage/confirm`, body)
      const text = await response.text()
      if (response.status !== 200) throw new Error(text)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, confirmNext))
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}
