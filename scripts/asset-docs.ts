// `npm run docs` writes the tables of networks and assets in docs/gateway.md, that of methods in the README of the SDK,
// and every `.env.example`. With `--check` it writes nothing and fails when one of them is out of date.

import { readFileSync, writeFileSync } from 'node:fs'
import { SETTINGS as AGENT } from '../apps/agent/src/settings.ts'
import { SETTINGS as GATEWAY } from '../apps/gateway/src/settings.ts'
import { SETTINGS as WITNESS } from '../apps/witness/src/settings.ts'
import { ASSETS, type Asset, tokenKey } from '../packages/api/src/assets.ts'
import { NETWORKS } from '../packages/api/src/networks.ts'
import { DEV_SETTINGS } from '../packages/devnet/src/services/dev-settings.ts'
import { GROUPS, type Settings } from '../packages/service/src/program/config.ts'
import { methodRows } from './sdk-methods.ts'

/** Each part begins with a marker, which stays in the document. */
const PARTS = [
  {
    file: 'docs/gateway.md',
    part: /(?<=<!-- networks: [^\n]*\n\n).*?(?=\n\n<!-- \/networks -->)/s,
    text: networkTable(),
  },
  { file: 'docs/gateway.md', part: /(?<=<!-- assets: [^\n]*\n\n).*?(?=\n\n<!-- \/assets -->)/s, text: assetTable() },
  {
    file: 'packages/sdk/README.md',
    part: /(?<=<!-- methods: [^\n]*\n\n).*?(?=\n\n<!-- \/methods -->)/s,
    text: methodTable(),
  },
  ...[
    { file: '.env.example', settings: GATEWAY },
    { file: 'apps/agent/.env.example', settings: AGENT },
    { file: 'apps/witness/.env.example', settings: WITNESS },
    { file: 'packages/devnet/.env.example', settings: DEV_SETTINGS },
  ].map(({ file, settings }) => ({
    file,
    part: /(?<=\n\n)# must set\n.*|(?<=\n\n)# should.*/s,
    text: exampleOf(settings),
  })),
]

const isCheck = process.argv.includes('--check')
for (const { file, part, text } of PARTS) {
  const page = readFileSync(file, 'utf8')
  if (!part.test(page)) throw new Error(`${file} has no part that matches ${part}`)
  const written = page.replace(part, () => text)
  if (written === page) continue
  if (!isCheck) {
    writeFileSync(file, written)
    continue
  }
  console.error(`${file} is out of date: run npm run docs`)
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
    const place = address === null ? `${code(tokenKey(asset))} in ${code('TOKENS')}` : code(address)
    return [code(ticker), network.title, String(decimals), priceText(asset), place]
  })
  return table(['asset', 'network', 'decimals', 'price', 'mint or contract'], rows)
}

function methodTable(): string {
  const rows = methodRows().map(([method, meaning, result]) => [code(method), meaning, code(result)])
  return table(['method', 'meaning', 'result'], rows)
}

function priceText({ pricing }: Asset): string {
  if (pricing.by === 'usd') return '1 USD'
  if (pricing.by === 'flat') return 'one buys a unit, whatever its price'
  return `of ${pricing.symbol}, or ${pricing.symbol} in ${code('FALLBACK_USD')}`
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}

/** All settings in the order of their groups, in the syntax of a shell. */
function exampleOf(settings: Settings): string {
  const groups = GROUPS.map((group) => {
    const own = Object.entries(settings).filter(([, setting]) => setting.group === group)
    const lines = own.map(([name, { help, default: value = '' }]) => `# ${help}\n${name}=${quoted(value)}`)
    return lines.length === 0 ? [] : [`# ${group}\n\n${lines.join('\n\n')}`]
  })
  return `${groups.flat().join('\n\n')}\n`
}

/** Quotes a value only where a shell would otherwise misread it. */
function quoted(value: string): string {
  return /^[\w./:,=%@{}-]*$/.test(value) ? value : `'${value}'`
}
