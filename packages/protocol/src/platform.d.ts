// The only globals that the protocol uses beyond ECMAScript. Every runtime has them.
declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>
}
declare class TextDecoder {
  constructor(label: 'utf-8', options: { fatal: true; ignoreBOM: true })
  decode(bytes: Uint8Array): string
}
