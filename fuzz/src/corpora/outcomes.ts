import { readInBrowser } from './browser.ts'
import type { Corpora, Outcome } from './cases.ts'
import { checkOverDoors } from './doors/over-doors.ts'
import { examples } from './examples.ts'
import { checkInPackages } from './in-packages.ts'
import { checkOverCli } from './over-cli.ts'
import { checkOverHttp } from './over-http.ts'

/** What every reader makes of the cases, as soon as it is known. */
export async function* outcomes(corpora: Corpora): AsyncGenerator<Outcome> {
  const good = examples()
  yield* await checkInPackages(good, corpora, await readInBrowser(good, corpora))
  if (corpora.json.length > 0) {
    yield await checkOverCli(good, corpora.json)
    yield* await checkOverHttp(corpora.json)
  }
  if (corpora.texts.length + corpora.urls.length > 0) yield* await checkOverDoors(corpora)
}
