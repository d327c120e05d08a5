/* false: fail, whatever the arguments. */
int main(void)
{
	return 1;
}
