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

/** A picture and a film, made by the browser itself. */
export async function pictureAndFilm(browser: Browser): Promise<{ png: Uint8Array; webm: Uint8Array }> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const [png, webm] = await page.evaluate(async () => {
    const canvas = document.createElement('canvas')
    canvas.width = 1600
    canvas.height = 900
    const pen = canvas.getContext('2d')!
    const draw = (step: number) => {
      const sky = pen.createLinearGradient(0, 0, 0, 900)
      sky.addColorStop(0, '#4f46e5')
      sky.addColorStop(1, '#f7c98b')
      pen.fillStyle = sky
      pen.fillRect(0, 0, 1600, 900)
      pen.fillStyle = '#fff'
      pen.beginPath()
      pen.arc(400 + step * 40, 420, 120, 0, 7)
      pen.fill()
    }
    const text = async (blob: Blob) => {
      const bytes = new Uint8Array(await blob.arrayBuffer())
      let binary = ''
      for (const byte of bytes) binary += String.fromCharCode(byte)
      return btoa(binary)
    }
    draw(0)
    const picture = await new Promise<Blob>((resolve) => canvas.toBlob((blob) => resolve(blob!)))
    const parts: Blob[] = []
    const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: 'video/webm' })
    recorder.ondataavailable = ({ data }) => parts.push(data)
    recorder.start()
    for (let step = 0; step < 12; step++) {
      draw(step)
      await new Promise((resolve) => setTimeout(resolve, 40))
    }
    await new Promise<unknown>((resolve) => {
      recorder.onstop = resolve
      recorder.stop()
    })
    return [await text(picture), await text(new Blob(parts))] as const
  })
  await context.close()
  return { png: Buffer.from(png, 'base64'), webm: Buffer.from(webm, 'base64') }
}
