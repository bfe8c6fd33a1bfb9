// `npm run docs` writes what documents say about networks and assets: the tables of docs/gateway.md, and their settings in
// the examples of both services. With `--check` it writes nothing and fails when one of them is out of date.

import { readFileSync, writeFileSync } from 'node:fs'
import { ASSETS, type Asset, priceSettings, pricesOf } from '../packages/api/src/assets.ts'
import { NETWORKS, type Network, ROLES } from '../packages/api/src/networks.ts'

/** Each begins with a marker, which stays. */
const PARTS = [
  {
    file: 'docs/gateway.md',
    part: /(?<=<!-- networks: [^\n]*\n\n).*?(?=\n\n<!-- \/networks -->)/s,
    text: networkTable(),
  },
  { file: 'docs/gateway.md', part: /(?<=<!-- assets: [^\n]*\n\n).*?(?=\n\n<!-- \/assets -->)/s, text: assetTable() },
  ...['.env.example', 'apps/agent/.env.example'].flatMap((file) => [
    {
      file,
      part: /(?<=\n# Networks, written by [^\n]*\n).*?(?=\n\n|$)/s,
      text: NETWORKS.flatMap((network) => networkLines(network, { isAgent: file !== '.env.example' })).join('\n'),
    },
    { file, part: /(?<=\n# Assets, written by [^\n]*\n).*?(?=\n\n|$)/s, text: settingLines() },
  ]),
]

const isCheck = process.argv.includes('--check')
for (const { file, part, text } of PARTS) {
  const page = readFileSync(file, 'utf8')
  if (!part.test(page)) throw new Error(`${file} has no place for what ${part} finds`)
  const written = page.replace(part, () => text)
  if (written === page) continue
  if (!isCheck) {
    writeFileSync(file, written)
    continue
  }
  console.error(`${file} is out of date: npm run docs`)
  process.exitCode = 1
}

function networkTable(): string {
  const rows = NETWORKS.map(({ title, name, caip2, olderNames }) => [
    title,
    code(name),
    code(caip2),
    olderNames.map(code).join(', '),
  ])
  return table(['network', '`pay_network`', 'in legs', 'older names'], rows)
}

function assetTable(): string {
  const rows = (ASSETS as readonly Asset[]).map((asset) => {
    const { network, ticker, decimals, address } = asset
    const place = typeof address === 'string' ? code(address) : `of the setting ${code(address.setting)}`
    return [code(ticker), network.title, String(decimals), priceText(asset), place]
  })
  return table(['asset', 'network', 'decimals', 'price', 'mint or contract'], rows)
}

function priceText({ pricing }: Asset): string {
  if (pricing.by === 'usd') return '1 USD'
  if (pricing.by === 'flat') return 'one buys a unit, whatever its price'
  return `of ${pricing.symbol}, or ${code(priceSettings(pricing).fallback)}`
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}

function networkLines(network: Network, { isAgent }: { isAgent: boolean }): string[] {
  const { settings, title, family } = network
  const chain = family === 'evm' ? `${title} (chain ${network.chainId})` : title
  const what = !isAgent && network === ROLES.publication ? 'money or an anchor' : 'money'
  return [
    `# Addresses of nodes of ${chain}, with commas between; all are asked, and the quorum decides`,
    `${settings}_RPC_URLS=`,
    `# How many of these nodes must agree before ${what} is decided on; above 1, each node needs a host of its own. When empty, a majority of three or more nodes with hosts of their own, otherwise 1`,
    `${settings}_RPC_QUORUM=`,
    `# Wallet on ${title} that is paid${isAgent ? ", not the gateway's" : ''}${family === 'solana' ? '; its token accounts must exist for tokens to be offered' : ''}`,
    `${settings}_TREASURY=`,
    ...(family === 'evm'
      ? [
          `# Blocks that must hold a payment on ${title} or stand on one that does`,
          `${settings}_CONFIRMATIONS=1`,
          `# Which blocks of ${title} count: latest-confirmations (by the number above) or finalized (by the chain's own word)`,
          `${settings}_FINALITY=latest-confirmations`,
        ]
      : [`# How sure a payment on ${title} must be: confirmed or finalized`, `${settings}_COMMITMENT=confirmed`]),
  ]
}

function settingLines(): string {
  const prices = pricesOf(ASSETS).map((price) => ({ price, ...priceSettings(price) }))
  return [
    ...(ASSETS as readonly Asset[]).flatMap(addressLines),
    ...prices.flatMap(({ price, feed }) => [
      `# Feed id of ${price.symbol} in USD${followers(price.symbol)}`,
      `${feed}=${price.feed}`,
    ]),
    ...prices.flatMap(({ price: { symbol }, fallback }) => [
      `# USD for one ${symbol} once no price of the last hour is known; without it nothing is then sold for ${symbol}`,
      `${fallback}=`,
    ]),
  ].join('\n')
}

function addressLines({ network, ticker, address }: Asset): string[] {
  if (typeof address === 'string') return []
  return [
    `# ${kindOf(network)} of ${ticker} on ${network.title}; without it that leg is not offered`,
    `${address.setting}=`,
  ]
}

function kindOf({ family }: Network): string {
  return family === 'evm' ? 'Contract' : 'Mint'
}

function followers(symbol: string): string {
  const tickers = ASSETS.flatMap(({ ticker, pricing }) =>
    pricing.by === 'oracle' && pricing.symbol === symbol ? [ticker] : [],
  )
  const others = [...new Set<string>(tickers)].filter((ticker) => ticker !== symbol)
  return others.length > 0 ? `, for ${others.join(', ')}` : ''
}
