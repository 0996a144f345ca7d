module.exports = {{{
