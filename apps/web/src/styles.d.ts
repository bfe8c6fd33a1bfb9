declare module '*.css'
declare module '*?worker&url' {
  const url: string
  export default url
}
declare module '*?code' {
  const code: string
  export default code
}
