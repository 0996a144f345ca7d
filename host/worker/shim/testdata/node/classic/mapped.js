"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.run = run;
// The line of the failure in the output is another than here.
var Kind;
(function (Kind) {
    Kind["Small"] = "small";
    Kind["Large"] = "large";
})(Kind || (Kind = {}));
async function run(_context, order) {
    const kind = Kind.Large;
    throw new Error(`no ${kind} order`);
}
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJmaWxlIjoibWFwcGVkLmpzIiwic291cmNlUm9vdCI6IiIsInNvdXJjZXMiOlsibWFwcGVkLnRzIl0sIm5hbWVzIjpbXSwibWFwcGluZ3MiOiI7O0FBT0Esa0JBR0M7QUFORCw4REFBOEQ7QUFDOUQsSUFBSyxJQUF5QztBQUE5QyxXQUFLLElBQUk7SUFBRyx1QkFBZSxDQUFBO0lBQUUsdUJBQWUsQ0FBQTtBQUFDLENBQUMsRUFBekMsSUFBSSxLQUFKLElBQUksUUFBcUM7QUFFdkMsS0FBSyxVQUFVLEdBQUcsQ0FBQyxRQUFpQixFQUFFLEtBQVk7SUFDdkQsTUFBTSxJQUFJLEdBQVMsSUFBSSxDQUFDLEtBQUssQ0FBQztJQUM5QixNQUFNLElBQUksS0FBSyxDQUFDLE1BQU0sSUFBSSxRQUFRLENBQUMsQ0FBQztBQUN0QyxDQUFDIiwic291cmNlc0NvbnRlbnQiOlsiaW50ZXJmYWNlIE9yZGVyIHtcbiAgaWQ6IG51bWJlcjtcbn1cblxuLy8gVGhlIGxpbmUgb2YgdGhlIGZhaWx1cmUgaW4gdGhlIG91dHB1dCBpcyBhbm90aGVyIHRoYW4gaGVyZS5cbmVudW0gS2luZCB7IFNtYWxsID0gJ3NtYWxsJywgTGFyZ2UgPSAnbGFyZ2UnIH1cblxuZXhwb3J0IGFzeW5jIGZ1bmN0aW9uIHJ1bihfY29udGV4dDogdW5rbm93biwgb3JkZXI6IE9yZGVyKTogUHJvbWlzZTx2b2lkPiB7XG4gIGNvbnN0IGtpbmQ6IEtpbmQgPSBLaW5kLkxhcmdlO1xuICB0aHJvdyBuZXcgRXJyb3IoYG5vICR7a2luZH0gb3JkZXJgKTtcbn1cbiJdfQ==