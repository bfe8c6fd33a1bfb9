// For tests: files of every kind that the viewer page shows, most of them with something in them that wants to run.

import type { Browser } from 'playwright'

/** What a script would do if it ran: leave a mark, and ask for something. */
const SCRIPT = "window.ran=true;top.ran=true;fetch('/v1/ran');new Image().src='https://evil.example/ran'"

export const HTML = `<!doctype html><title>safe</title><script>document.title='ran';${SCRIPT}</script>
<img src="https://evil.example/x" onerror="${SCRIPT}"><iframe src="https://evil.example/frame"></iframe>
<p>Hello</p>`

export const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100" width="400" height="200" onload="${SCRIPT}">
<script>${SCRIPT}</script><image href="https://evil.example/x.png" width="9" height="9"/>
<foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:${SCRIPT}"/></foreignObject>
<rect width="200" height="100" rx="12" fill="#4f46e5"/><circle cx="60" cy="50" r="28" fill="#a8e6b8"/>
</svg>`

export const MARKDOWN = `# Notes on the harbour

Some **bold** and *slanted* text, \`code\` &amp; a [web page](https://example.org/a?b=1).

* one
  * below it
* [ ] open, [x] done

1. first
2. second

> Somebody said this.

| name | count |
|---|---:|
| boats | 12 |

\`\`\`js
const boats = 12 // as counted
\`\`\`

<script>${SCRIPT}</script>
<img src=x onerror="${SCRIPT}">
![a picture](https://evil.example/p.png) and ![own](/v1/ran)
[click](javascript:window.ran=true) [data](data:text/html,<script>x</script>) <javascript:window.ran=true>
`

/** Two pages with text; scripts that run when it is opened, and links. */
export function pdf(): Uint8Array {
  const page = (lines: string[]) =>
    lines.map((line, i) => `BT /F1 ${i ? 14 : 26} Tf 60 ${720 - i * 40} Td (${line}) Tj ET`).join('\n')
  const stream = (text: string) => `<< /Length ${text.length} >>\nstream\n${text}\nendstream`
  const js =
    '<< /S /JavaScript /JS (app.alert\\(1\\); this.ran = true; app.launchURL\\("https://evil.example/pdf"\\)) >>'
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R /OpenAction ${js} /Names << /JavaScript << /Names [(a) ${js}] >> >> >>`,
    '<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 7 0 R >> >> /AA << /O ${js} >> /Annots [8 0 R] >>`,
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 6 0 R /Resources << /Font << /F1 7 0 R >> >> >>',
    stream(page(['Harbour report', 'Twelve boats came in on Monday.', 'Nine left again before the storm.'])),
    stream(page(['Second page', 'There is nothing more to say.'])),
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    '<< /Type /Annot /Subtype /Link /Rect [0 0 612 792] /A << /S /URI /URI (https://evil.example/link) >> >>',
  ]
  let text = '%PDF-1.7\n'
  const places = objects.map((object, i) => {
    const place = text.length
    text += `${i + 1} 0 obj\n${object}\nendobj\n`
    return `${String(place).padStart(10, '0')} 00000 n \n`
  })
  const end = text.length
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${end}\n%%EOF\n`
  return new TextEncoder().encode(text)
}

/** A second of sound. */
export function wav(): Uint8Array {
  const samples = 8000
  const bytes = Buffer.alloc(44 + samples)
  bytes.write('RIFF', 0)
  bytes.writeUInt32LE(36 + samples, 4)
  bytes.write('WAVEfmt ', 8)
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(8000, 24)
  bytes.writeUInt32LE(8000, 28)
  bytes.writeUInt16LE(1, 32)
  bytes.writeUInt16LE(8, 34)
  bytes.write('data', 36)
  bytes.writeUInt32LE(samples, 40)
  for (let i = 0; i < samples; i++) bytes[44 + i] = 128 + Math.round(60 * Math.sin(i / 3))
  return bytes
}

/** Six frames of a white square that moves, as a browser recorded them. */
export const WEBM = Buffer.from(
  'GkXfo59ChoEBQveBAULygQRC84EIQoKEd2VibUKHgQRChYECGFOAZwEAAAAAAAMTEU2bdLlNu4tTq4QVSalmU6yBbk27i1OrhBZUrmtTrIGTTb' +
    'uLU6uEH0O2dVOsgdRNu4xTq4QcU7trU6yCAwHsrgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAVSalmoCrX' +
    'sYMPQkBEiYRDzdysTYCGQ2hyb21lV0GGQ2hyb21lFlSua7yuuteBAXPFh7fzZexIsPiDgQFV7oEBhoVWX1ZQOOCdsIFAuoEkU8CBAVWwkFWxgQ' +
    'FVuYECVbqBDVW7gQEfQ7Z1AQAAAAAAAiHngQCgQIyh3YEAAAAwBACdASpAACQABwcIhYWImYSIJYIACA8TPainT1xfjcScFPmYyAE6si3A/m10' +
    'ePvp/iLb/9Xfnb9PuDtDBepoPdodzJO1L34juNW/pBpEMEU/uNArzZzmgHWhqqao7oEBpaOwAgCdASpAACQACocIhYWImYSIOAIABo5PzMeb8V' +
    'gA/uuuAKC4oZeBAFAA8QEAHBE8ABgAGFgv9ABYGP94AHWhmaaX7oEBpZLRAQAqEcAAGAAYWC/0AAiMAAD7gQCg16G2gQChAHECABwQ8AAYAB5E' +
    'B/QACl6q2CtQS8D+6Di///BBfxBfxBWPwGzJTrdIAAXKBqSSqvAAdaGZppfugQGlktEBACoRwAAYABhYL/QACIwAAPuBUKDLoaqBAPEAUQIAHB' +
    'DgABgAHDX/9AAJ0Fsq5byw/ulpH//xDn9bf9ymtIwC+AB1oZmml+6BAaWS0QEAKhHAABgAGFgv9AAIjAAA+4GhoNiht4EBQwCRAgAcEMQAGAzu' +
    'zg7P+5Adm6c0WJoHFP7rNv//kp/95X+u7cLTE1EkCMsL4lZymrp5IKB1oZmml+6BAaWS0QEAKhHAABgAGFgv9AAIjAAA+4HxoNOhsYEBmwBxAg' +
    'AcEKgAGAAeUAf0ACrplFUsRgcg/u0HL/+Zo/9Jv+w3j/rCL4OABkUWiUB1oZmml+6BAaWS0QEAKhGQABgAGFgv9AAIjAAA+4IBQxxTu2uNu4uz' +
    'gQC3hveBAfGB1A==',
  'base64',
)

/** A picture that is larger than the page, drawn by the browser itself. */
export async function png(browser: Browser): Promise<Uint8Array> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const url = await page.evaluate(() => {
    const canvas = document.createElement('canvas')
    canvas.width = 1600
    canvas.height = 900
    const pen = canvas.getContext('2d')!
    const sky = pen.createLinearGradient(0, 0, 0, 900)
    sky.addColorStop(0, '#4f46e5')
    sky.addColorStop(1, '#f7c98b')
    pen.fillStyle = sky
    pen.fillRect(0, 0, 1600, 900)
    pen.fillStyle = '#fff'
    pen.arc(400, 420, 120, 0, 7)
    pen.fill()
    return canvas.toDataURL('image/png')
  })
  await context.close()
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
}
