// For tests: the log page, and gateways that show false logs.

import { signCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { EMPTY_FRONTIER, grow, rootOf } from '@svc/protocol/transparency/frontier'
import { tilePath } from '@svc/protocol/transparency/tiles'
import { leafHash } from '@svc/protocol/transparency/tree'
import type { Page } from 'playwright'
import { LOG_KEY, LOG_SIGNER, type Site } from './site.ts'
import { click } from './visit.ts'

export const publish = ({ gateway }: Site) => gateway.context.publishLog()
export const alarm = (page: Page, name: string) => page.getByRole('alert').getByRole('heading', { name }).waitFor()
export const entryCard = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
export const lookUp = async (page: Page, text: string) => {
  await page.getByLabel('Entry number or statement digest').fill(text)
  await click(page, 'Look up')
}

/** The files of a log with another history under the same key. */
export async function otherLog(count: number): Promise<Map<string, Buffer>> {
  const leaves = Array.from({ length: count }, (_, i) => leafHash(Buffer.from(`another entry ${i}`)))
  const { frontier, tiles } = grow(EMPTY_FRONTIER, leaves)
  const checkpoint = await signCheckpoint(LOG_KEY, { size: count, root: rootOf(frontier) }, LOG_SIGNER.sign)
  const files = tiles.map((tile) => [tilePath(tile), Buffer.from(tile.bytes)] as const)
  return new Map([['checkpoint', Buffer.from(checkpoint)], ...files])
}

const LOG_FILES = /\/log\/(checkpoint|tile\/.*)$/

/** Answers the page with these files of the log; with null, with those of the gateway. */
export async function showLog(page: Page, files: Map<string, Buffer> | null): Promise<void> {
  await page.unrouteAll({ behavior: 'wait' })
  if (!files) return
  await page.route(LOG_FILES, (route) => {
    const body = files.get(LOG_FILES.exec(route.request().url())![1]!)
    return body ? route.fulfill({ body }) : route.fulfill({ status: 404, json: { error: 'not_in_log' } })
  })
}
