import { readInBrowser } from './browser.ts'
import type { Corpora, Outcome } from './cases.ts'
import { checkEntryPoints } from './entry-points/check-entry-points.ts'
import { examples } from './examples.ts'
import { checkInPackages } from './in-packages.ts'
import { checkOverCli } from './over-cli.ts'
import { checkOverHttp } from './over-http.ts'

/** The result of every reader, as soon as it is known. A reader that cannot be started does not stop the others. */
export async function* outcomes(corpora: Corpora): AsyncGenerator<Outcome> {
  const good = examples()
  const { json, texts, urls } = corpora
  const inPage = await readInBrowser(good, corpora).catch((error: unknown) => notRun('Chromium', error))
  if ('kind' in inPage) yield inPage
  yield* await checkInPackages(good, corpora, 'kind' in inPage ? null : inPage)
  if (json.length > 0) {
    yield await checkOverCli(good, json).catch((error: unknown) => notRun('svc verify', error))
    yield* await checkOverHttp(json).catch((error: unknown) => [notRun('the services', error)])
  }
  if (texts.length + urls.length > 0)
    yield* await checkEntryPoints(corpora).catch((error: unknown) => [notRun('the entry points', error)])
}

function notRun(place: string, error: unknown): Outcome {
  return { kind: place, cases: 0, passed: 0, problems: [`was not run: ${error}`], notes: [] }
}
