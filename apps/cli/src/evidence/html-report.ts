// The result of a verification as one self-contained HTML file: printable and without scripts.

import { isoSeconds } from '@svc/protocol/evidence'
import { VERSION } from '@svc/protocol/version'
import type { Fact } from '@svc/verifier/facts'
import { uncheckedWith } from '@svc/verifier/receipt-facts'
import type { VerifiedBundle } from '@svc/verifier/verify-bundle'
import { networkTitle } from '../output/networks.ts'
import { shown } from '../output/shown.ts'
import { PLAIN } from '../output/style.ts'
import { FACT_MEANINGS } from './fact-meanings.ts'
import { wrongFilesText } from './file-names.ts'
import { type Fragment, html } from './html.ts'
import type { Judged } from './judgement.ts'
import { chainText, decryptionText, foundText, headPairs, logPairs } from './judgement-text.ts'
import { factsOf } from './report.ts'
import { type Verdicts, verdictText } from './verdict-text.ts'

export interface ReportContent extends Verdicts {
  /** The source of the pinned keys. */
  keysFrom: string | null
  /** Unix milliseconds. */
  now: number
}

const STYLE = html`
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #111; background: #fff }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem; overflow-wrap: anywhere } h3 { font-size: 1rem }
.verdict { border: 2px solid; padding: .75rem 1rem; font-weight: 600; overflow-wrap: anywhere }
.verified { color: #14532d } .signer_unknown { color: #713f12 } .failed { color: #7f1d1d }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd; overflow-wrap: anywhere }
th { font-weight: 600; white-space: nowrap } pre { white-space: pre-wrap; overflow-wrap: anywhere }
tr { break-inside: avoid }
@media print { body { margin: 0; max-width: none; font-size: 11px } }
`

export function htmlReport(content: ReportContent): string {
  const { verdict, judged, chain, keysFrom, now } = content
  const title = 'Verification of evidence'
  const made = `Created ${isoSeconds(Math.floor(now / 1000))} with svc ${VERSION}.`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p class="verdict ${verdict}">${verdictText(content, PLAIN)}</p>
<p>${made} This report is only as trustworthy as its sender: <code>svc verify</code> repeats the checks on the
bundle.</p>
${judged.map((one) => sectionOf(one, keysFrom))}
${chain ? html`<h2>Chain of statements</h2><pre>${chainText(chain, PLAIN)}</pre>` : ''}
</body>
</html>
`.markup
}

function sectionOf(judged: Judged, keysFrom: string | null): Fragment {
  const { path, verification, receipt, decryption, found } = judged
  if (verification.refused) {
    const { code, why } = verification.refused
    return html`<h2>${shown(path)}</h2><p>This bundle cannot be checked: ${shown(why)} (${code})</p>`
  }
  const { files, log, redacted } = verification
  const unchecked = uncheckedWith(receipt, verification)
  const wrong = files ? wrongFilesText(files) : ''
  return html`<h2>${shown(path)}</h2>
<h3>Statement and keys</h3>
${rows([...headPairs(verification, keysFrom), ...digestRow(verification)])}
${redacted && redacted.leftOut.length > 0 ? html`<p>Left out: ${shown(redacted.leftOut.join('; '))}</p>` : ''}
${found.length > 0 ? html`<h3>Files by content</h3><pre>${foundText(found, PLAIN)}</pre>` : ''}
${wrong ? html`<h3>Files that differ</h3><p>${wrong}</p>` : ''}
${decryption ? html`<h3>Encrypted files</h3><pre>${decryptionText(decryption, PLAIN)}</pre>` : ''}
<h3>Chain</h3>
${rows(publicationRows(verification))}
${log ? html`<h3>Log</h3>${rows(logPairs(log))}` : ''}
<h3>Facts</h3>
<table>
<tr><th>Fact</th><th>Result</th><th>Meaning when passed</th></tr>
${Object.entries(factsOf(judged)).map(([name, fact]) => factRow(name, fact))}
</table>
${unchecked.length > 0 ? html`<p>Not covered by any check: ${shown(unchecked.join(', '))}</p>` : ''}
`
}

type Row = readonly [name: string, value: string]

function rows(entries: readonly Row[]): Fragment {
  return html`<table>${entries.map(([name, value]) => html`<tr><th>${name}</th><td>${value}</td></tr>`)}</table>`
}

function digestRow({ envelope }: VerifiedBundle): Row[] {
  return envelope ? [['digest', shown(envelope.statement_digest)]] : []
}

/** The transaction that the bundle names, and the time that a node has proven. */
function publicationRows({ anchor, anchoredAt }: VerifiedBundle): Row[] {
  if (!anchor) return [['transaction', 'the bundle names none']]
  const text = (name: string) =>
    ['string', 'number'].includes(typeof anchor[name]) ? shown(String(anchor[name])) : '-'
  return [
    ['network', networkTitle(text('chain'))],
    ['transaction', text('tx')],
    ['slot', text('slot')],
    ['signer', text('signer')],
    ['proven time', anchoredAt === null ? 'none: no node has confirmed it' : isoSeconds(anchoredAt)],
  ]
}

const RESULTS: Record<Fact['value'], string> = {
  passed: '✓ passed',
  failed: '✗ failed',
  not_checked: '– not checked',
  unavailable: '– unavailable',
}

function factRow(name: string, { value, why }: Fact): Fragment {
  const meaning = Object.hasOwn(FACT_MEANINGS, name) ? FACT_MEANINGS[name as keyof typeof FACT_MEANINGS] : ''
  return html`<tr><td>${name}</td><td>${RESULTS[value]}${why === undefined ? '' : `: ${shown(why)}`}</td><td>${meaning}</td></tr>
`
}
