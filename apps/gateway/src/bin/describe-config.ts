// Describes what a gateway does with its settings, in the order in which an admin meets them. Shows no secret.

import { NETWORKS, type Network } from '@svc/api/networks'
import { PROVIDERS, type Provider } from '@svc/api/providers'
import { nodeName } from '@svc/payments/nodes/node-pool'
import { GROUPS, type Variables } from '@svc/service/program/config'
import { providerLocation } from '@svc/storage/drivers'
import { BUDGETS, spendText } from '../budgets/settings.ts'
import type { Config, Secrets } from '../config.ts'
import type { KeySource } from '../keys/settings.ts'
import { SETTINGS } from '../settings.ts'

interface Read {
  config: Config
  secrets: Secrets
  variables: Variables
}

type Fact = [name: string, text: string]

export function describeConfig(read: Read): string {
  const facts: Record<(typeof GROUPS)[number], Fact[]> = {
    'must set': requiredFacts(read),
    'should look at': policyFacts(read),
    providers: providerFacts(read),
    tuning: tuningFacts(read),
  }
  const width = Math.max(
    ...Object.values(facts)
      .flat()
      .map(([name]) => name.length),
  )
  const groups = GROUPS.map((group) => {
    const lines = facts[group].map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
    return [group, ...lines].join('\n')
  })
  return groups.join('\n\n')
}

function requiredFacts({ config, secrets }: Read): Fact[] {
  return [
    ['address', `${config.http.baseUrl}, listening on ${config.http.host}:${config.http.port}`],
    ...NETWORKS.map((network): Fact => [network.title, networkText(network, config, secrets)]),
    ['statement key', keyText(secrets.statementKey)],
  ]
}

function networkText(network: Network, { payments }: Config, { rpcUrls }: Secrets): string {
  const chain = payments.chains.get(network)
  if (!chain) return 'no sales on this network'
  const nodes = (rpcUrls.get(network) ?? []).map(nodeName)
  const { treasury, quorum, finality } = chain
  const status = 'commitment' in finality ? finality.commitment : evmFinality(finality)
  return `paid to ${treasury}; a payment counts once ${quorum} of ${nodes.length} nodes (${nodes.join(', ')}) report it ${status}`
}

function evmFinality({ finality, confirmations }: { finality: string; confirmations: number }): string {
  return finality === 'finalized' ? finality : `in ${confirmations} ${confirmations === 1 ? 'block' : 'blocks'}`
}

function keyText(source: KeySource): string {
  if ('seed' in source) return source.seed.length > 0 ? 'in the gateway' : 'missing'
  return `with the signer ${source.signer}, public key ${source.publicKeyHex}`
}

function policyFacts({ config, secrets }: Read): Fact[] {
  const { mode, dataDir, continuity, transparency, payments, lockers, limits, budgets, anchors, s3 } = config
  return [
    ['mode', mode],
    ['data folder', dataDir],
    ['database', databaseText(secrets.databaseUrl, config.processes)],
    ['journal', continuity.logbookDir ?? 'off'],
    ['log', `${transparency.origin}, ${secrets.logBucket ? 'in a bucket' : `in ${transparency.folder}`}`],
    ['callers', callersText(config, secrets)],
    ['admins', adminsText(config)],
    ...PROVIDERS.flatMap((provider) => saleFact(config, provider)),
    ['beyond terms', lockers.enforcesTerms ? 'writes are rejected' : 'writes are still accepted'],
    ['paid with', `${assetNames(config).join(', ') || 'nothing'}${x402Text(config)}`],
    ['prices', `${payments.oracle.url}${fallbackText(payments.oracle.fallback)}`],
    [
      'limits',
      `${limitText(limits.perAddress)} an address, ${limitText(limits.perReceipt)} a receipt, ${limitText(limits.perSigner)} a signer, each minute`,
    ],
    ['spends per day', BUDGETS.map((name) => `${name} ${spendText(name, budgets.perDay[name])}`).join(', ')],
    [
      'publishes',
      anchors.isOn ? `${anchors.kind}, ${anchors.isAutomatic ? 'every statement' : 'on request'}` : 'nothing',
    ],
    ['S3 clients', s3.enabled ? `served${s3.host ? ` at ${s3.host}` : ''}` : 'not served'],
  ]
}

function databaseText(url: string, processes: number): string {
  const { host = '', pathname = '' } = URL.parse(url) ?? {}
  const location = url.startsWith('sqlite:')
    ? `SQLite in ${url.slice('sqlite:'.length)}`
    : `PostgreSQL ${host}${pathname}`
  return `${location}, ${processes} ${processes === 1 ? 'process' : 'processes'}`
}

function callersText({ internal }: Config, { internalSecret }: Secrets): string {
  const { oidc } = internal
  const ways = [
    ...(internalSecret ? ['INTERNAL_SECRET'] : []),
    ...(oidc ? [`tokens of ${oidc.issuer} for ${[...oidc.emails, ...oidc.subjects].join(', ')}`] : []),
  ]
  return ways.join(', and ') || 'internal endpoints accept no caller'
}

function adminsText({ internal }: Config): string {
  const { emails, subjects, secret, anybody } = internal.actors
  const names = [...emails, ...subjects, ...(secret ? ['callers with INTERNAL_SECRET'] : [])]
  return names.join(', ') || (anybody ? 'everyone, in development' : 'nobody may change anything')
}

function saleFact({ storage, payments }: Config, provider: Provider): Fact[] {
  if (!storage.drivers[provider]) return []
  const { storage_limit_bytes, file_limit, ttl_days } = payments.terms[provider]
  const unit = `${storage_limit_bytes} bytes in ${file_limit} files for ${ttl_days} days`
  return [[`sells ${provider}`, `${payments.unitPrices[provider]} USD for one unit: ${unit}`]]
}

function assetNames({ payments }: Config): string[] {
  const { assets, chains } = payments
  const offered = assets.filter(({ of, address }) => address !== null && chains.has(of.network))
  return offered.map(({ of }) => `${of.ticker} on ${of.network.title}`)
}

function x402Text({ x402 }: Config): string {
  return x402.isOpen ? ', by x402 too' : ''
}

function fallbackText(fallback: Readonly<Record<string, string>>): string {
  const rates = Object.entries(fallback).map(([symbol, usd]) => `${symbol} ${usd} USD`)
  return rates.length > 0 ? `; without it ${rates.join(', ')}` : '; without it quotes in coins are not offered'
}

function limitText(count: number): string {
  return count === 0 ? 'no limit for' : `${count} for`
}

function providerFacts({ config, secrets }: Read): Fact[] {
  const { drivers, localFolder } = config.storage
  const sold = PROVIDERS.filter((provider) => drivers[provider])
  if (sold.length === 0) return [['none', 'nothing is sold']]
  return sold.map((provider) => [
    provider,
    drivers[provider] === 'local' ? `in ${localFolder}` : providerLocation(provider, secrets.providers),
  ])
}

/** The settings that differ from their defaults. */
function tuningFacts({ variables }: Read): Fact[] {
  const changed = Object.entries(SETTINGS).flatMap(([name, setting]): Fact[] => {
    const text = variables[name] || variables[`${name}_FILE`]
    const isChanged = setting.group === 'tuning' && text && text !== setting.default
    return isChanged ? [[name, setting.isSecret ? 'set' : text]] : []
  })
  return changed.length > 0 ? changed : [['nothing', 'all settings have their defaults']]
}
