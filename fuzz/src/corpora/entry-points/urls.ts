// URLs that callers make the services call. Every host name leads to this machine, so none may be fetched; URLs with a
// public address in their text are not called, because other people own those addresses.

import { BlockList, isIP } from 'node:net'
import { isPublicAddress } from '@svc/protocol/public-address'
import { KINDS, type Outcome, type UrlCase } from '../cases.ts'
import type { EntryPoints } from './entry-points.ts'

/** Written a second time, for Node's own matcher. */
const PRIVATE = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['224.0.0.0', 3],
] as const)
  PRIVATE.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const)
  PRIVATE.addSubnet(network, prefix, 'ipv6')

export async function checkUrls(
  cases: readonly UrlCase[],
  entryPoints: EntryPoints,
  agentUrl: string,
): Promise<Outcome> {
  const problems: string[] = []
  let untried = 0
  for (const one of cases) {
    const address = addressOf(one.url)
    const isPublic = address !== null && isPublicAddress(address)
    if (isPublic) untried++
    const problem =
      readingProblem(one) ?? (isPublic ? addressProblem(address) : await callProblem(one.url, entryPoints, agentUrl))
    if (problem) problems.push(`${one.name}: ${JSON.stringify(one.url)}: ${problem}`)
  }
  const notes = untried === 0 ? [] : [`${untried} lead to public addresses, which were judged and not called`]
  const kind = `${KINDS.urls}, fetch-and-store, mirrors and webhooks`
  return { kind, cases: cases.length, passed: cases.length - problems.length, problems, notes }
}

/** The address that the URL standard finds in a URL. */
function addressOf(url: string): string | null {
  const host = URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? ''
  return isIP(host) ? host : null
}

function addressProblem(address: string): string | null {
  const isPrivate = PRIVATE.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
  return isPrivate ? `${address} counts as public` : null
}

/** Only https URLs are ever called. */
function readingProblem({ url, href }: UrlCase): string | null {
  const read = URL.parse(url)?.href ?? null
  const isCalled = [read, href].some((one) => one?.startsWith('https:'))
  return href === undefined || read === href || !isCalled ? null : `is read as ${read}`
}

/** The message for a URL that was not called, because its form or its host is not allowed. */
const NOT_CALLED =
  /^(the (URL|port|host) must |all addresses of the host must |must |the host of the source cannot be resolved)/

async function callProblem(url: string, entryPoints: EntryPoints, agentUrl: string): Promise<string | null> {
  const { status, body } = await entryPoints.fetchFrom(url)
  const [first] = body.detail ?? []
  if (status !== 413 && !(status === 422 && NOT_CALLED.test(first?.msg ?? '')))
    return `fetch-and-store answered ${status} ${JSON.stringify(body)}`
  for (const tasks of [{ tell: { url } }, { mirror: { sources: [{ url, filename: 'a' }] } }]) {
    const answer = await entryPoints.delegateTo(agentUrl, tasks)
    // When the text of a URL is valid, the caller is still not authorized.
    const expected = URL.parse(url)?.protocol === 'https:' ? answer < 500 && answer >= 400 : [413, 422].includes(answer)
    if (!expected) return `the agent answered ${answer}`
  }
  return null
}
